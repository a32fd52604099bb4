import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { historySuite, isFull, replaySuite } from './suite.ts';

const options = { engine: sqliteEngine(), interface: 'native', runs: isFull ? 1000 : 100 } as const;

historySuite(options);
replaySuite(options);
