import { postgresEngine } from '../support/postgres-engine.ts';
import { storeContract } from './contract/index.ts';

storeContract(postgresEngine());
