/** Random queries, requests and histories on SQLite, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('random');
