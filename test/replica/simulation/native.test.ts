import { sqliteGround } from './ground.ts';
import { historySuite, isFull, replaySuite } from './suite.ts';

// Seed 5 takes as long as twenty others: its consumer waits 41 hours, renewing its lease.
const options = {
  ground: sqliteGround(),
  interface: 'native',
  from: isFull ? 1 : 6,
  runs: isFull ? 1000 : 15,
} as const;

historySuite(options);
replaySuite(options);
