import { postgresEngine } from '../support/postgres-engine.ts';
import { fuzzSuite } from './mutated.ts';

await fuzzSuite(postgresEngine(), 750);
