import { sqliteEngine } from '../support/sqlite-engine.ts';
import { nativeOracle } from './native-suite.ts';

nativeOracle(sqliteEngine());
