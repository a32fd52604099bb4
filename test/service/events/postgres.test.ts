import { postgresEngine } from '../../support/postgres-engine.ts';
import { eventsContract } from './contract.ts';

eventsContract(postgresEngine());
