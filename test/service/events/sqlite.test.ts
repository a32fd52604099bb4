import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { eventsContract } from './contract.ts';

eventsContract(sqliteEngine());
