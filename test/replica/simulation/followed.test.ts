import { sqliteGround } from './ground.ts';
import { followedSuite, isFull } from './suite.ts';

const ground = sqliteGround();

followedSuite(
  isFull ? { ground, from: 1, runs: 10_000, least: 5000 } : { ground, from: 10, runs: 4, least: 3 },
);
