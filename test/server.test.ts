/** The tests of PostgreSQL in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('server');
