/** Copies that are compared with their source, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('copies');
