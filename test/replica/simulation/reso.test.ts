import { sqliteGround } from './ground.ts';
import { historySuite, isFull, replaySuite } from './suite.ts';

const options = { ground: sqliteGround(), interface: 'reso', runs: isFull ? 1000 : 4 } as const;

historySuite(options);
replaySuite(options);
