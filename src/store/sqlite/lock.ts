import type { Clock } from '../clock.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

/** How long a writer waits for the lock, in milliseconds, and between two tries to get it. */
const PATIENCE = 30_000;
const PAUSE = 5;

/** How long the engine itself waits: the thread answers requests meanwhile. */
export const LOCK_TIMEOUT = 2;

/**
 * Runs `work` under the write lock of the store, and commits, unless the work has rolled back itself. An error undoes
 * everything. Other writers are waited for without holding up the thread.
 * @param patience for how long, in milliseconds
 */
export async function underLock<T>(
  { database }: Connection,
  { sleep }: Pick<Clock, 'sleep'>,
  work: () => Promise<T> | T,
  patience: number = PATIENCE,
): Promise<T> {
  for (const end = performance.now() + patience; ; ) {
    try {
      database.exec('BEGIN IMMEDIATE');
      break;
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    await sleep(PAUSE);
  }
  try {
    const result = await work();
    if (database.isTransaction) database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
