import { sqliteEngine } from '../support/sqlite-engine.ts';
import { fuzzSuite } from './mutated.ts';

await fuzzSuite(sqliteEngine(), 2500);
