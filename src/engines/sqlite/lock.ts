import type { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../store/clock.ts';
import { Undo } from '../../store/write-session.ts';
import { begin, type Transaction } from './begin.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

/** How long a writer waits for the lock, in milliseconds, and between two tries to get it. */
const PATIENCE = 30_000;
const PAUSE = 5;

/** How long the engine itself waits: the thread answers requests meanwhile. */
export const LOCK_TIMEOUT = 2;

/**
 * Runs `work` under the write lock of the store, and commits, unless the work returns `Undo`. An error undoes
 * everything. Other writers are waited for without holding up the thread.
 * @param patience for how long, in milliseconds
 */
export async function underLock<T>(
  { database }: Connection,
  work: () => Promise<T | Undo<T>> | T,
  patience: number = PATIENCE,
): Promise<T> {
  using transaction = await beginInTurn(database, patience);
  const result = await work();
  if (result instanceof Undo) return result.result;
  transaction.commit();
  return result;
}

async function beginInTurn(database: DatabaseSync, patience: number): Promise<Transaction> {
  for (const end = performance.now() + patience; ; ) {
    try {
      return begin(database, 'write');
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
    }
    // Other processes take real time, whatever clock stamps.
    await systemClock.sleep(PAUSE);
  }
}
