import { sqliteDialect } from '../../../src/store/sqlite/dialect.ts';
import { goldenSuite } from './golden.ts';

goldenSuite(sqliteDialect);
