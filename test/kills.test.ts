/** Processes that are killed, or run at the same time, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('kills');
