import { sqliteGround } from './ground.ts';
import { followedSuite, isFull, REPORTING } from './suite.ts';

const ground = sqliteGround();

followedSuite(
  isFull
    ? { ground, from: 1, runs: 10_002, least: 5000, ways: REPORTING }
    : { ground, from: 15, runs: 2, least: 2, ways: ['stream', 'all'] },
);
