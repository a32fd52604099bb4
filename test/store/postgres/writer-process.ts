/** A process that stores listings, one small batch after the other, until a moment: `node … ADDRESS NAME UNTIL`. */
import { openStore } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { operations } from '../../support/world.ts';

const [address = '', name = '', until = '0'] = process.argv.slice(2);
const store = await openStore(address);
const { write } = operations(store, testClock());
let round = 0;
while (Date.now() < Number(until)) {
  round++;
  // New ones, and one that all writers change again and again.
  const price = { ListPrice: round };
  await write(
    'Property',
    listing(`${name}-${round}-a`),
    listing(`${name}-${round}-b`),
    listing('shared', price),
  );
}
await store.close();
process.stdout.write(String(round));
