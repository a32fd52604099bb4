/** Unmodified third-party clients, in one process (support/together.ts). */
import { runTogether } from './support/together.ts';

await runTogether('clients');
