import { sqliteEngine } from '../support/sqlite-engine.ts';
import { odataOracle } from './odata-suite.ts';

odataOracle(sqliteEngine());
