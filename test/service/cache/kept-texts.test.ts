/** Kept texts on SQLite with reader threads; for PostgreSQL see test/service/cache/kept-on-postgres.test.ts. */
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { textsContract } from './texts-contract.ts';

textsContract(sqliteEngine({ pageReaders: 1, searchReaders: 1 }));
