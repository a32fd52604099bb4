/** The tests of the engine of a server in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('server');
