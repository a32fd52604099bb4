/** The tests of complete replicas, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('replicas');
