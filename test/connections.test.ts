/** The tests of what all requests have in common, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('connections');
