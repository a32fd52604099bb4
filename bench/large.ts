/**
 * Runs the requests of the comparison against `plat serve` on an existing store: for stores that are too large to be loaded in each
 * run (docs/performance.md, "A million listings"). `node bench/large.ts --store ADDRESS --config FILE [--processes 2] [--read-store
 * ADDRESS] [--system MLS-03] [--connections 4] [--known 50000]`. `--known` is the number of listings that requests are made from:
 * the first ones; by default, all.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../src/open-store.ts';
import { measureLoad, sum } from './compare/load-loop.ts';
import { type Facts, factsOf, WHAT, type WorkName, worksOf } from './compare/works.ts';
import { makeClient } from './support/client.ts';
import { postmasterOf, usedBy } from './support/server-usage.ts';
import { makeToken, startServe } from './support/service.ts';
import { milliseconds, tableOf } from './support/table.ts';

/** The market has no media. */
const NAMES: readonly WorkName[] = [
  'page',
  'window',
  'filter-fresh',
  'filter-cached',
  'scan',
  'key',
  'keys',
  'count',
];

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: '' },
    config: { type: 'string', default: '' },
    processes: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '3' },
    known: { type: 'string', default: '1000000000' },
    'read-store': { type: 'string' },
    system: { type: 'string' },
  },
});
const isServer = values.store.startsWith('postgres');
const readStores = values['read-store'] === undefined ? [] : [values['read-store']];

const store = await openStore(values.store);
const token = await makeToken(store, 'private', values.system === undefined ? [] : [values.system]);
await store.close();

const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
const config = join(folder, 'plat.config.json');
const settings: object = JSON.parse(readFileSync(values.config, 'utf8'));
writeFileSync(config, JSON.stringify({ ...settings, ...(readStores.length === 0 ? {} : { readStores }) }));

const start = performance.now();
const services = await Promise.all(
  Array.from({ length: Number(values.processes) }, () => startServe(values.store, config)),
);
const started = performance.now() - start;
const client = makeClient();
const postmasters = isServer ? await Promise.all([values.store, ...readStores].map(postmasterOf)) : [];
const used = async (): Promise<number[]> => {
  const own = await Promise.all(services.map(async ({ process }) => (await process.used()).cpu));
  return [sum(own), ...postmasters.map(usedBy)];
};
const facts = await factsFrom(services[0]?.reso ?? '');
const works = worksOf(facts);

const rows: string[][] = [];
for (const name of NAMES) {
  let number = 0;
  const next = (): string => {
    const root = services[number % services.length]?.reso;
    return `${root}${works[name](number++).plat}`;
  };
  const load = { used, asking: { token }, connections: Number(values.connections), next };
  const { cpu, wall, rate } = await measureLoad(load, client, Number(values.seconds) * 1000);
  const parts = cpu.length === 1 ? [] : cpu.map(milliseconds);
  rows.push([
    WHAT[name],
    milliseconds(sum(cpu)),
    ...parts,
    milliseconds(wall),
    rate.toFixed(rate < 10 ? 1 : 0),
  ]);
  console.error(rows.at(-1)?.join(', '));
}
client.close();
const peaks = await Promise.all(services.map(async ({ process }) => (await process.stop()).peak));
rmSync(folder, { recursive: true });

const parts = ['of plat', 'of the server', 'of the standby'].slice(0, postmasters.length + 1);
const head = [
  `requests from ${facts.keys.length.toLocaleString('en')} listings`,
  'ms of CPU',
  ...(parts.length === 1 ? [] : parts),
  'wall ms',
  'requests a second',
];
console.log(tableOf(head, rows, 0).join('\n'));
const memory = peaks.map((peak) => `${Math.round(peak / 1e6)} MB`).join(', ');
console.log(`\nStarted in ${(started / 1000).toFixed(2)} s; memory at the most ${memory}.`);

/** Keys, timestamps and cities of the listings that requests refer to, from pages of these three fields. */
async function factsFrom(reso: string): Promise<Facts> {
  const listings: { ListingKey: string; ModificationTimestamp: string; City: string | null }[] = [];
  const first = `${reso}Property?$top=1000&$select=ListingKey,ModificationTimestamp,City`;
  for (
    let address: string | undefined = first;
    address !== undefined && listings.length < Number(values.known);
  ) {
    const body = await client.read(address, { token });
    const page: { value: typeof listings; '@odata.nextLink'?: string } = JSON.parse(body.toString());
    for (const listing of page.value) listings.push(listing);
    address = page['@odata.nextLink'];
  }
  return factsOf(listings.map((listing) => ({ ...listing })));
}
