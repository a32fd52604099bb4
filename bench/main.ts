/**
 * The benchmark (docs/performance.md): `npm run bench -- [--listings 50000] [--only TITLE]`.
 * Prints a table for each subject; ratios are of wall times, to the floors of the same run.
 */
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { floors } from './floors.ts';
import { imports } from './imports.ts';
import { replica } from './replica.ts';
import { serviceMemory } from './service-memory.ts';
import { servicePages } from './service-pages.ts';
import { serviceRecords } from './service-records.ts';
import { storePages } from './store-pages.ts';
import { storeSearches } from './store-searches.ts';
import { makeMarketStore } from './support/market-store.ts';
import type { Measurement } from './support/measure.ts';
import type { BenchContext, Subject } from './support/subject.ts';
import { renderSection } from './support/table.ts';

const SUBJECTS: readonly Subject[] = [
  imports,
  servicePages,
  serviceRecords,
  serviceMemory,
  replica,
  storePages,
  storeSearches,
];

const { values } = parseArgs({
  options: { listings: { type: 'string', default: '50000' }, only: { type: 'string', default: '' } },
});
const listings = Number(values.listings);
if (!Number.isInteger(listings) || listings < 2000) {
  throw new Error('--listings takes a whole number, 2000 or more');
}

console.log(
  `plat bench: ${listings} listings, Node ${process.version}, ${availableParallelism()} cores of ${cpus()[0]?.model}`,
);
const market = await makeMarketStore(listings, (text) => console.error(text));
try {
  await run({ ...market, listings });
} finally {
  await market.dispose();
}

async function run(context: BenchContext): Promise<void> {
  const bottom = await floors.run(context);
  print(floors, bottom, bottom);
  for (const subject of SUBJECTS) {
    if (!subject.title.includes(values.only)) continue;
    const measurements = await subject.run(context);
    print(subject, measurements, [...measurements, ...bottom]);
  }
}

/** @param known where the subject's floors are found */
function print(
  { title, floors: names }: Subject,
  measurements: readonly Measurement[],
  known: readonly Measurement[],
): void {
  const compared = names.map((name) => ({
    name,
    wall: known.find((each) => each.name === name)?.wall ?? Number.NaN,
  }));
  console.log(`\n${renderSection({ title, measurements, floors: compared })}`);
}
