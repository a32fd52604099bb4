import { postgresDialect } from '../../../src/store/postgres/dialect.ts';
import { goldenSuite } from './golden.ts';

goldenSuite(postgresDialect);
