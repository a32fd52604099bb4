/** The tests of SQLite, and of what both engines share, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('stores');
