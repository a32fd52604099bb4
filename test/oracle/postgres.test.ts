import { postgresEngine } from '../support/postgres-engine.ts';
import { deltaOracle } from './delta-suite.ts';
import { nativeOracle } from './native-suite.ts';
import { odataOracle } from './odata-suite.ts';

odataOracle(postgresEngine());
nativeOracle(postgresEngine());
deltaOracle(postgresEngine());

if (process.env.PLAT_FULL === '1') {
  odataOracle(postgresEngine('OriginatingSystemID'));
  nativeOracle(postgresEngine('OriginatingSystemID'));
}
