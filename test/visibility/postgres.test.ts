import { postgresEngine } from '../support/postgres-engine.ts';
import { visibilitySuite } from './suite.ts';

await visibilitySuite(postgresEngine());
