/** The tests of the responses of each interface, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('interfaces');
