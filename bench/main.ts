/**
 * The benchmark (docs/performance.md): `npm run bench -- [--listings 50000] [--only TITLE]`.
 * Prints a table for each subject; ratios are of wall times, to the floors of the same run.
 */
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { CONCATENATED, floors, STRINGIFIED } from './floors.ts';
import { storePages } from './store-pages.ts';
import { storeSearches } from './store-searches.ts';
import { makeMarketStore } from './support/market-store.ts';
import type { Measurement } from './support/measure.ts';
import type { BenchContext, Subject } from './support/subject.ts';
import { renderSection } from './support/table.ts';

const SUBJECTS: readonly Subject[] = [storePages, storeSearches];

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
const market = await makeMarketStore(listings, (done) => {
  if (done % 5000 === 0) console.error(`imported ${done} of ${listings}`);
});
try {
  await run({ ...market, listings });
} finally {
  await market.dispose();
}

async function run(context: BenchContext): Promise<void> {
  const bottom = await floors.run(context);
  const wallOf = (name: string): number => bottom.find((each) => each.name === name)?.wall ?? Number.NaN;
  const ratios = { concatenated: wallOf(CONCATENATED), stringified: wallOf(STRINGIFIED) };
  const print = (title: string, measurements: readonly Measurement[]): void =>
    console.log(`\n${renderSection({ title, measurements }, ratios)}`);
  print(floors.title, bottom);
  print('import', [context.imported]);
  for (const subject of SUBJECTS) {
    if (subject.title.includes(values.only)) print(subject.title, await subject.run(context));
  }
}
