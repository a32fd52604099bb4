import { postgresEngine } from '../support/postgres-engine.ts';
import { absentContract } from './absent.ts';

absentContract(postgresEngine(), 'reso');
