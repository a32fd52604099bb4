/** The thread that checkpoints a file (checkpointer.ts). It ends if it cannot: the next commit then does, or reports why not. */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

const path: string = workerData;
const file = pathToFileURL(path);
// A file that has been deleted is not created anew.
file.searchParams.set('mode', 'rw');
const database = new DatabaseSync(file);
// The disk has the pages of the file before the log begins anew.
database.exec('PRAGMA synchronous = FULL');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', () => {
  parentPort?.postMessage(Number(checkpoint.get()?.log));
});
