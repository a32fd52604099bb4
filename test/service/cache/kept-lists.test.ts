/** Kept pages of filter lists on SQLite; for PostgreSQL see test/service/cache/kept-on-postgres.test.ts. */
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { listsContract } from './lists-contract.ts';

const isFull = process.env.PLAT_FULL === '1';
const histories = isFull ? { steps: 400, seeds: [1, 2, 3, 4, 5] } : { steps: 60, seeds: [1] };

await listsContract(sqliteEngine(), { ...histories, mutants: true });
