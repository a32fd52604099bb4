/** The tests of commands, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('commands');
