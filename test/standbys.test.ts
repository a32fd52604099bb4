/** Standbys, and a primary that fails, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('standbys');
