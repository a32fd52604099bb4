/**
 * The cost of partitioning a store by originating system, depending on the number of systems: `npx node bench/partitions.ts`.
 * `--systems` sets the numbers to compare; 0 stands for tables that are not partitioned.
 */
import { parseArgs } from 'node:util';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import { openStore } from '../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../src/records/settings.ts';
import { emptyDatabase } from '../test/support/postgres-engine.ts';
import { postgresServer, runOn } from '../test/support/postgres-server.ts';
import { type Json, operations, TIME, type WorldRequest } from '../test/support/world.ts';
import { postmasterOf, usedBy } from './support/server-usage.ts';

const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '2000' },
    systems: { type: 'string', default: '0,1,10,50,200' },
  },
});
const settings = {
  ...DEFAULT_SETTINGS,
  declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
};
const listings = Number(values.listings);
const PAGE = 1000;
const postmaster = await postmasterOf((await postgresServer()).address('postgres'));
const BATCH = 250;

/** The market's listings, distributed over a number of systems. */
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

/** The number of executions after which a connection has cached its plans. */
const WARM = 12;

/** The CPU time of the server per call, in milliseconds; the kernel accounts for it in hundredths of a second. */
async function used(rounds: number, work: (round: number) => Promise<unknown>): Promise<string> {
  for (let round = 0; round < WARM; round++) await work(rounds + round);
  const before = usedBy(postmaster);
  for (let round = 0; round < rounds; round++) await work(round);
  return ((usedBy(postmaster) - before) / rounds).toFixed(1);
}

async function measure(systems: number): Promise<Record<string, string>> {
  const partitions = systems === 0 ? undefined : 'OriginatingSystemID';
  const { address, drop } = await emptyDatabase(settings, partitions);
  const store = await openStore(address);
  const { write, request, page } = operations(store, { text: () => new Date().toISOString() });
  const records = [...market(systems)];
  const begun = usedBy(postmaster);
  for (let at = 0; at < records.length; at += BATCH) {
    const { rejected } = await write('Property', ...records.slice(at, at + BATCH));
    if (rejected.length > 0) throw new Error(JSON.stringify(rejected[0]));
  }
  const imported = (usedBy(postmaster) - begun) / records.length;
  await runOn(address, 'VACUUM ANALYZE');
  const keys = records.map((record) => String(record.ListingKey)).toSorted();
  const key = (round: number): string => keys[(round * 7919) % keys.length] ?? '';
  const from = (round: number): WorldRequest => ({
    limit: PAGE,
    position: { kind: 'after-key', key: keys[(round * 7919) % (keys.length - PAGE)] ?? '' },
  });
  const one = { role: 'private', systems: ['MLS-0000'] };
  const whole = await request('Property');
  const opened = usedBy(postmaster);
  await page('Property', '', { limit: 1 });
  const first = (usedBy(postmaster) - opened).toFixed(0);
  const shown = {
    systems: systems === 0 ? 'whole' : String(systems),
    'import, a listing': imported.toFixed(1),
    'first page of a connection': first,
    'page of 1,000 keys': await used(60, (round) => page('Property', '$select=ListingKey', from(round))),
    'page of 1,000': await used(10, (round) => page('Property', '', from(round))),
    'page of 1,000 with media, rooms': await used(10, (round) =>
      page('Property', '$expand=Media,Rooms', from(round)),
    ),
    '10 of one system, with media, rooms': await used(60, () =>
      page('Property', '$expand=Media,Rooms', { limit: 10, viewer: one }),
    ),
    'record by key': await used(200, (round) => store.record({ ...whole, key: key(round) }, TIME)),
    'filter, 100 rows': await used(20, () => page('Property', '$filter=ListPrice gt 900000&$top=100')),
    'write of 100 again': await used(10, (round) =>
      write(
        'Property',
        ...records.slice(0, 100).map((record) => ({ ...record, ListPrice: 100_000 + round })),
      ),
    ),
    'first of a system':
      systems === 0
        ? '-'
        : await used(20, (round) =>
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
