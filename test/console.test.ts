/** The tests of the console, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('console');
