import { postgresEngine } from '../../support/postgres-engine.ts';
import { plantedContract } from './planted.ts';

plantedContract(postgresEngine(), 'reso');
