/** The tests of what each interface answers, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('interfaces');
