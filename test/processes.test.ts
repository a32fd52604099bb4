/** Commands that go on until they are ended, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('processes');
