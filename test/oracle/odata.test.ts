import { sqliteEngine } from '../support/sqlite-engine.ts';
import { deltaOracle } from './delta-suite.ts';
import { odataOracle } from './odata-suite.ts';

odataOracle(sqliteEngine());
deltaOracle(sqliteEngine());
