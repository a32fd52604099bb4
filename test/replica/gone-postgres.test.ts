import { postgresEngine } from '../support/postgres-engine.ts';
import { goneContract } from './gone.ts';

goneContract(postgresEngine(), 'reso');
