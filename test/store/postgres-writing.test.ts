import { postgresEngine } from '../support/postgres-engine.ts';
import { writingContract } from './contract/index.ts';

writingContract(postgresEngine());
