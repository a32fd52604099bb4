import { sqliteEngine } from '../support/sqlite-engine.ts';
import { storeContract } from './contract/index.ts';

storeContract(sqliteEngine());
