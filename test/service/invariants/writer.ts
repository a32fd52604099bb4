/**
 * A process that writes to a store as fast as it can until its stdin ends, for the tests of I2.
 * Arguments: store, number of this writer. Prints a line for each write: the number of records written so far.
 */
import { setImmediate } from 'node:timers/promises';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { parseRecord } from '../../../src/records/parse-record.ts';
import { listing, photo } from '../../support/builders.ts';

const [path = '', number = ''] = process.argv.slice(2);
/** Most records are written once and stay in their window; some are changed again and again. */
const KEYS = [1_000_000, 1_000_000, 500];

let state = Number(number) + 1;
/** A whole number below `bound`; the same sequence for the same writer. */
function random(bound: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}

const store = await openSqliteStore({ path });
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();
let written = 0;
while (!isOver) {
  // Lets the end of stdin be noticed between two writes.
  await setImmediate();
  const model = await store.model();
  const size = random(20) === 0 ? 900 : 1 + random(12);
  const records = new Map(
    Array.from({ length: size }, () => {
      const key = String(1_000_000 + random(KEYS[random(KEYS.length)] ?? 1));
      const Media = random(3) === 0 ? { Media: [photo(`${key}-${random(4)}`)] } : {};
      return [key, listing(key, { ListPrice: random(1_000_000_000), ...Media })] as const;
    }),
  );
  if (random(15) === 0) {
    await store.remove('Property', [...records.keys()].slice(0, 3));
    continue;
  }
  const parsed = [...records.values()].map((record) => {
    const result = parseRecord(model.resource('Property'), record, model);
    if (!result.ok) throw new Error(result.invalid.reasons.join('; '));
    return result.record;
  });
  const report = await store.write('Property', parsed);
  written += report.inserted + report.changed;
  process.stdout.write(`${written}\n`);
}
await store.close();
