import { sqliteDialect } from '../../src/engines/sqlite/dialect.ts';
import { goldenSuite } from './golden.ts';

goldenSuite(sqliteDialect);
