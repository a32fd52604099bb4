/** Kept responses on SQLite; for PostgreSQL see test/service/cache/kept-on-postgres.test.ts. */
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { repliesContract } from './replies-contract.ts';

await repliesContract(sqliteEngine(), 60);
