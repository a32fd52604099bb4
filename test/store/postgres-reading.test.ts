import { postgresEngine } from '../support/postgres-engine.ts';
import { readingContract } from './contract/index.ts';

readingContract(postgresEngine());
