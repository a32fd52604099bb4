import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { plantedContract } from './planted.ts';

for (const kind of ['reso', 'native'] as const) plantedContract(sqliteEngine(), kind);
