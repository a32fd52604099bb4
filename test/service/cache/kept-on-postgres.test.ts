/** Kept blocks, texts and responses on PostgreSQL: one short history in `npm test`, more with `PLAT_FULL=1`. */
import { postgresEngine } from '../../support/postgres-engine.ts';
import { keptContract } from './kept-contract.ts';
import { listsContract } from './lists-contract.ts';
import { repliesContract } from './replies-contract.ts';
import { textsContract } from './texts-contract.ts';

const isFull = process.env.PLAT_FULL === '1';

keptContract(postgresEngine(), { steps: isFull ? 60 : 6, seeds: isFull ? [1, 2, 3, 4, 5] : [1] });
textsContract(postgresEngine());
await repliesContract(postgresEngine(), isFull ? 60 : 15);
await listsContract(postgresEngine(), {
  steps: isFull ? 60 : 10,
  seeds: isFull ? [1, 2, 3] : [1],
  mutants: isFull,
});
