/**
 * The tests of what each interface answers, in one process: they share no state but what is compiled, since each file has
 * stores and services of its own. Each file runs by itself as well. What looks at the process (memory, processors,
 * signals, slow clients) is not here.
 */
import { runRooms } from './support/rooms.ts';

await runRooms(['service/reso', 'service/native', 'service/access', 'service/admin', 'service/floorplans']);
