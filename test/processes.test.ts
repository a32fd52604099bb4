/** Commands that run until they are stopped, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('processes');
