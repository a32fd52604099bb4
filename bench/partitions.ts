/**
 * What it costs to lay a store apart by originating system, by how many there are: `npx node bench/partitions.ts`.
 * `--systems` gives the numbers to compare; 0 stands for tables that are whole.
 */
import { parseArgs } from 'node:util';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from '../src/demo/index.ts';
import { openStore } from '../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../src/store/settings.ts';
import { emptyDatabase } from '../test/support/postgres-engine.ts';
import { runOn } from '../test/support/postgres-server.ts';
import { type Json, operations, type ReadWish, TIME } from '../test/support/world.ts';

const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '2000' },
    systems: { type: 'string', default: '0,1,10,50,200' },
    rounds: { type: 'string', default: '25' },
  },
});
const settings = {
  ...DEFAULT_SETTINGS,
  declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
};
const listings = Number(values.listings);
const rounds = Number(values.rounds);
const PAGE = 1000;
const BATCH = 250;

/** The market's listings, shared out to a number of systems. */
function* market(systems: number): Generator<Json> {
  let index = 0;
  for (const { resource, record } of marketRecords({ seed: 7, listings })) {
    if (resource !== 'Property') continue;
    const system = `MLS-${String(index++ % Math.max(1, systems)).padStart(4, '0')}`;
    yield JSON.parse(
      JSON.stringify(record, (name, value) =>
        name === 'OriginatingSystemID' || name === 'OriginatingSystemResourceRecordSystemID' ? system : value,
      ),
    );
  }
}

/** After as many times a connection has its plans. */
const WARM = 12;

/** The middle of some times, in milliseconds. */
async function middle(work: (round: number) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < WARM; round++) await work(rounds + round);
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  return (times.toSorted((left, right) => left - right)[rounds >> 1] ?? 0).toFixed(1);
}

async function measure(systems: number): Promise<Record<string, string>> {
  const partitions = systems === 0 ? undefined : 'OriginatingSystemID';
  const { address, drop } = await emptyDatabase(settings, partitions);
  const store = await openStore(address);
  const { write, request, page } = operations(store, { text: () => new Date().toISOString() });
  const records = [...market(systems)];
  const begun = performance.now();
  for (let at = 0; at < records.length; at += BATCH) {
    const { rejected } = await write('Property', ...records.slice(at, at + BATCH));
    if (rejected.length > 0) throw new Error(JSON.stringify(rejected[0]));
  }
  const imported = (performance.now() - begun) / 1000;
  await runOn(address, 'VACUUM ANALYZE');
  const keys = records.map((record) => String(record.ListingKey)).toSorted();
  const key = (round: number): string => keys[(round * 7919) % keys.length] ?? '';
  const from = (round: number): ReadWish => ({
    limit: PAGE,
    position: { kind: 'after-key', key: keys[(round * 7919) % (keys.length - PAGE)] ?? '' },
  });
  const one = { role: 'private', systems: ['MLS-0000'] };
  const whole = await request('Property');
  const opened = performance.now();
  await page('Property', '', { limit: 1 });
  const first = (performance.now() - opened).toFixed(1);
  const shown = {
    systems: systems === 0 ? 'whole' : String(systems),
    'import, listings/s': (records.length / imported).toFixed(0),
    'first page of a connection': first,
    'page of 1,000 keys': await middle((round) => page('Property', '$select=ListingKey', from(round))),
    'page of 1,000': await middle((round) => page('Property', '', from(round))),
    'page of 1,000 with media, rooms': await middle((round) =>
      page('Property', '$expand=Media,Rooms', from(round)),
    ),
    '10 of one system, with media, rooms': await middle(() =>
      page('Property', '$expand=Media,Rooms', { limit: 10, viewer: one }),
    ),
    'record by key': await middle((round) => store.record({ ...whole, key: key(round) }, TIME)),
    'filter, 100 rows': await middle(() => page('Property', '$filter=ListPrice gt 900000&$top=100')),
    'write of 100 again': await middle((round) =>
      write(
        'Property',
        ...records.slice(0, 100).map((record) => ({ ...record, ListPrice: 100_000 + round })),
      ),
    ),
    'first of a system':
      systems === 0
        ? '-'
        : await middle((round) =>
            write('Property', {
              ListingKey: `new-${round}`,
              StandardStatus: 'Active',
              OriginatingSystemID: `N${round}`,
            }),
          ),
  };
  await store.close();
  await drop();
  return shown;
}

const tables: Record<string, string>[] = [];
for (const systems of values.systems.split(',')) tables.push(await measure(Number(systems)));
for (const name of Object.keys(tables[0] ?? {})) {
  console.log(`| ${name} | ${tables.map((table) => table[name]).join(' | ')} |`);
}
