import { sqliteGround } from './ground.ts';
import { WRONGS } from './mutants.ts';
import { isFull, wrongSuite } from './suite.ts';

wrongSuite(
  sqliteGround(),
  WRONGS.filter(({ isLong = false }) => isFull || !isLong),
);
