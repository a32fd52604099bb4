import { postgresDialect } from '../../src/engines/postgres/dialect.ts';
import { goldenSuite } from './golden.ts';

goldenSuite(postgresDialect);
