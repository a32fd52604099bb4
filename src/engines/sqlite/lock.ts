import type { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../store/clock.ts';
import { Undo } from '../../store/write-session.ts';
import { begin, type Transaction } from './begin.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

/** How long a writer waits for the lock, and between two attempts to acquire it, in milliseconds. */
const PATIENCE = 30_000;
const PAUSE = 5;

/** How long the engine itself waits, in milliseconds. It blocks the thread, which has requests to answer. */
export const LOCK_TIMEOUT = 2;

/**
 * Runs `work` under the write lock of the store, and commits unless the work returns `Undo`. An error undoes everything.
 * Waiting for other writers does not block the thread.
 * @param patience how long to wait for the lock, in milliseconds
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
    // Other processes take real time, whichever clock stamps.
    await systemClock.sleep(PAUSE);
  }
}
