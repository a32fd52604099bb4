/** The tests of the consumer's rooms, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('consumer');
