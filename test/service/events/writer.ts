/** A process that writes listings to a store until it is killed: `node writer.ts ADDRESS NAME`. */
import { openStore } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { operations } from '../../support/world.ts';

const [, , address = '', name = ''] = process.argv;
const { write } = operations(await openStore(address), { text: () => '' });
process.once('disconnect', () => process.exit());
for (let at = 0; ; at++) {
  const key = `${name}${at % 7}`;
  await write('Property', listing(key, { ListPrice: at }), listing(`${key}b`, { ListPrice: at }));
  process.send?.(at);
}
