import { sqliteGround } from './ground.ts';
import { WRONGS } from './mutants.ts';
import { wrongSuite } from './suite.ts';

wrongSuite(sqliteGround(), WRONGS);
