import { postgresEngine } from '../support/postgres-engine.ts';
import { nativeOracle } from './native-suite.ts';
import { odataOracle } from './odata-suite.ts';

odataOracle(postgresEngine());
nativeOracle(postgresEngine());
