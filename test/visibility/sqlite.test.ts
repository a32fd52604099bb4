import { sqliteEngine } from '../support/sqlite-engine.ts';
import { visibilitySuite } from './suite.ts';

await visibilitySuite(sqliteEngine());
