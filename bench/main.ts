/**
 * The benchmark (docs/performance.md). `npm run bench` compares plat on both engines with floors and a plain server, and with the
 * targets: after a change, it shows within two minutes which targets are met. `--only TITLE` instead runs the subjects whose title
 * contains the text, or all of them for `all`: each prints a table of its own, with ratios of wall times to the floors of the same
 * run; with `--store postgres`, on a file and on a separate server, one after the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './compare/comparison.ts';
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
import { withFewMedia } from './support/market-files.ts';
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
    listings: { type: 'string' },
    only: { type: 'string' },
    store: { type: 'string' },
  },
});
const { only } = values;
const isComparison = only === undefined;
const listings = Number(values.listings ?? (isComparison ? 5000 : 50_000));
const engineName = values.store ?? (isComparison ? 'postgres' : 'sqlite');
if (!Number.isInteger(listings) || listings < 2000) {
  throw new Error('--listings takes a whole number, 2000 or more');
}
if (!['sqlite', 'postgres'].includes(engineName)) throw new Error('--store takes sqlite or postgres');

const loadText = (): string => `a load of ${loadavg()[0]?.toFixed(1)}`;
console.log(
  `plat bench: ${listings} listings, Node ${process.version}, ${availableParallelism()} cores of ${cpus()[0]?.model}, ${loadText()}`,
);
const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
const engines = [fileEngine(folder), ...(engineName === 'postgres' ? [await serverEngine()] : [])];
try {
  const market = makeMarket(folder, listings, isComparison ? withFewMedia : undefined);
  const stores: MarketStore[] = [];
  for (const engine of engines) {
    stores.push(await makeMarketStore(market, engine, (text) => console.error(text)));
  }
  if (only === undefined) for (const store of stores) console.log(`\n${await compare(store)}`);
  else await run(stores, only === 'all' ? '' : only);
  for (const { store } of stores) await store.close();
} finally {
  for (const engine of engines) await engine.dispose();
  rmSync(folder, { recursive: true });
}
console.log(`\nAt the end, ${loadText()}, after ${Math.round(process.uptime())} s.`);

async function run(stores: readonly MarketStore[], title: string): Promise<void> {
  const [first] = stores;
  const bottom = first === undefined ? [] : await floors.run(first);
  console.log(`\n${renderSection(sectionOf(floors, bottom, bottom))}`);
  for (const subject of SUBJECTS) {
    if (!subject.title.includes(title)) continue;
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

/** @param known the measurements among which the floors of the subject are found */
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
