/**
 * The benchmark (docs/performance.md): `npm run bench -- [--listings 50000] [--only TITLE] [--store postgres]`.
 * Prints a table for each subject; ratios are of wall times, to the floors of the same run. With `--store postgres`
 * everything runs on a file and on a server of its own, one after the other, and the tables have both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { floors } from './floors.ts';
import { imports } from './imports.ts';
import { replica } from './replica.ts';
import { serviceMemory } from './service-memory.ts';
import { servicePages } from './service-pages.ts';
import { serviceRecords } from './service-records.ts';
import { serviceShares } from './service-shares.ts';
import { storePages } from './store-pages.ts';
import { storeSearches } from './store-searches.ts';
import { fileEngine } from './support/file-engine.ts';
import { type MarketStore, makeMarket, makeMarketStore } from './support/market-store.ts';
import type { Measurement } from './support/measure.ts';
import { serverEngine } from './support/server-engine.ts';
import type { Subject } from './support/subject.ts';
import { renderSection, renderTwo, type Section } from './support/table.ts';

const SUBJECTS: readonly Subject[] = [
  imports,
  servicePages,
  serviceRecords,
  serviceShares,
  serviceMemory,
  replica,
  storePages,
  storeSearches,
];

const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '50000' },
    only: { type: 'string', default: '' },
    store: { type: 'string', default: 'sqlite' },
  },
});
const listings = Number(values.listings);
if (!Number.isInteger(listings) || listings < 2000) {
  throw new Error('--listings takes a whole number, 2000 or more');
}
if (!['sqlite', 'postgres'].includes(values.store)) throw new Error('--store takes sqlite or postgres');

const tellLoad = (): string => `a load of ${loadavg()[0]?.toFixed(1)}`;
console.log(
  `plat bench: ${listings} listings, Node ${process.version}, ${availableParallelism()} cores of ${cpus()[0]?.model}, ${tellLoad()}`,
);
const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
const engines = [fileEngine(folder), ...(values.store === 'postgres' ? [await serverEngine()] : [])];
try {
  const market = makeMarket(folder, listings);
  const stores: MarketStore[] = [];
  for (const engine of engines) {
    stores.push(await makeMarketStore(market, engine, (text) => console.error(text)));
  }
  await run(stores);
  for (const { store } of stores) await store.close();
} finally {
  for (const engine of engines) await engine.dispose();
  rmSync(folder, { recursive: true });
}
console.log(`\nAt the end, ${tellLoad()}.`);

async function run(stores: readonly MarketStore[]): Promise<void> {
  const [first] = stores;
  const bottom = first === undefined ? [] : await floors.run(first);
  console.log(`\n${renderSection(sectionOf(floors, bottom, bottom))}`);
  for (const subject of SUBJECTS) {
    if (!subject.title.includes(values.only)) continue;
    const sections: Section[] = [];
    for (const store of stores) {
      const measurements = await subject.run(store);
      sections.push(sectionOf(subject, measurements, [...measurements, ...bottom]));
    }
    const [file, server] = sections;
    if (file === undefined) continue;
    console.log(`\n${server === undefined ? renderSection(file) : renderTwo(file, server)}`);
  }
}

/** @param known where the subject's floors are found */
function sectionOf(
  { title, floors: names }: Subject,
  measurements: readonly Measurement[],
  known: readonly Measurement[],
): Section {
  const compared = names.map((name) => ({
    name,
    wall: known.find((each) => each.name === name)?.wall ?? Number.NaN,
  }));
  return { title, measurements, floors: compared };
}
