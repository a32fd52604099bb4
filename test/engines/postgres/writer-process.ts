/**
 * A process that stores listings in small batches: `node … ADDRESS NAME`. It writes a line when it is ready, begins when it reads
 * one, ends when its input ends, and reports how often it wrote.
 */
import { once } from 'node:events';
import { openStore } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { operations } from '../../support/world.ts';

const [address = '', name = ''] = process.argv.slice(2);
const store = await openStore(address);
const { write } = operations(store, testClock());
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdout.write('ready\n');
await once(process.stdin, 'data');
let round = 0;
while (!isOver) {
  round++;
  // New listings, and one that all writers change again and again.
  const price = { ListPrice: round };
  await write(
    'Property',
    listing(`${name}-${round}-a`),
    listing(`${name}-${round}-b`),
    listing('shared', price),
  );
}
await store.close();
process.stdout.write(`${round}\n`);
