/** Random queries, requests and histories on PostgreSQL, and stores of both engines, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('servers');
