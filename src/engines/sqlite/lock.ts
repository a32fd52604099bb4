import type { DatabaseSync } from 'node:sqlite';
import { WRITE_LIMITS, type WriteLimits } from '../../store/write/in-time.ts';
import { Undo } from '../../store/write-session.ts';
import { begin, type Transaction } from './begin.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

/** How long a writer waits for the lock, and between two attempts to acquire it, in milliseconds. */
const PATIENCE = 30_000;
const PAUSE = 5;

/** How long the engine itself waits, in milliseconds. It blocks the thread, which has requests to answer. */
export const LOCK_TIMEOUT = 2;

/** How a writer waits for the lock. */
interface Waiting {
  readonly patience?: number | undefined;
  readonly limits?: Pick<WriteLimits, 'elapsed' | 'sleep'> | undefined;
}

/**
 * Runs `work` under the write lock of the store, and commits unless the work returns `Undo`. An error undoes everything.
 * Waiting for other writers does not block the thread.
 * @param waiting how long to wait for the lock, in milliseconds, and in what time
 */
export async function underLock<T>(
  { database }: Connection,
  work: () => Promise<T | Undo<T>> | T,
  waiting: Waiting = {},
): Promise<T> {
  using transaction = await beginInTurn(database, waiting);
  const result = await work();
  if (result instanceof Undo) return result.result;
  transaction.commit();
  return result;
}

async function beginInTurn(
  database: DatabaseSync,
  { patience = PATIENCE, limits: { elapsed, sleep } = WRITE_LIMITS }: Waiting,
): Promise<Transaction> {
  for (let end: number | undefined; ; ) {
    try {
      return begin(database, 'write');
    } catch (error) {
      end ??= elapsed() + patience;
      if (!isBusy(error) || elapsed() > end) throw error;
    }
    await sleep(PAUSE);
  }
}
