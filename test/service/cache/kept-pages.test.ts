/** Kept blocks on SQLite; for PostgreSQL see test/service/cache/kept-on-postgres.test.ts. */
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { keptContract } from './kept-contract.ts';

const isFull = process.env.PLAT_FULL === '1';
const many = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

keptContract(sqliteEngine(), { steps: 60, seeds: many(isFull ? 20 : 1) });
if (isFull) keptContract(sqliteEngine({ pageReaders: 1, searchReaders: 1 }), { steps: 60, seeds: many(5) });
