/** The tests of the rooms that are pure functions, in one process. Each file runs by itself as well. */
import { runRooms } from './support/rooms.ts';

await runRooms(['query', 'dictionary']);
