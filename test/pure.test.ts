/** The tests of pure functions, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('pure');
