/** The tests of what every request has, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('connections');
