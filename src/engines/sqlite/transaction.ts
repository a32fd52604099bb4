/**
 * The only place that begins and ends transactions of SQLite: `using transaction = begin(…)`. The transaction has ended when the
 * scope is left, whatever the scope throws. This module knows nothing of the work inside.
 */
import type { DatabaseSync } from 'node:sqlite';
import { retryTransient } from '../../shared/retry-transient.ts';
import { WRITE_LIMITS, type WriteLimits } from '../../store/write/time-limits.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';

interface Transaction extends Disposable {
  /** Commits. Without this call, the transaction is rolled back when the scope is left. */
  commit(): void;
}

/** Connections with a transaction that a scope owns. */
const ownedConnections = new WeakSet<DatabaseSync>();

/** @param kind `write` acquires the write lock of the file, and throws if another connection has it */
export function begin(database: DatabaseSync, kind: 'read' | 'write'): Transaction {
  if (ownedConnections.has(database)) throw new Error('A transaction of this connection has not ended');
  // The previous transaction failed to end, for example because the disk was full, and no scope owns it any more.
  if (database.isTransaction) database.exec('ROLLBACK');
  database.exec(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  ownedConnections.add(database);
  return {
    commit() {
      if (database.isTransaction) database.exec('COMMIT');
    },
    [Symbol.dispose]() {
      ownedConnections.delete(database);
      try {
        if (database.isTransaction) database.exec('ROLLBACK');
      } catch {
        // The error of the scope takes precedence; the next transaction first ends this one.
      }
    },
  };
}

/** Runs `work` under the write lock and commits, without waiting; undefined if another connection has the lock. */
export function tryLock<T>(database: DatabaseSync, work: () => T): T | undefined {
  try {
    using transaction = begin(database, 'write');
    const result = work();
    transaction.commit();
    return result;
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** How long a writer waits for the lock, and how long between two attempts to acquire it, in milliseconds. */
const PATIENCE = 30_000;
const RETRY_INTERVAL = 5;

/** How long SQLite itself waits, in milliseconds. Waiting blocks the thread, which has requests to answer. */
export const LOCK_TIMEOUT = 2;

interface Waiting {
  readonly patience?: number | undefined;
  readonly limits?: Pick<WriteLimits, 'elapsed' | 'sleep'> | undefined;
}

/** Runs `work` under the write lock and commits; an error rolls everything back. Waiting does not block the thread. */
export async function underLock<T>(
  { database }: Connection,
  work: () => Promise<T>,
  { patience = PATIENCE, limits: { elapsed, sleep } = WRITE_LIMITS }: Waiting = {},
): Promise<T> {
  const waiting = { passes: isBusy, patience, pause: RETRY_INTERVAL, elapsed, sleep };
  using transaction = await retryTransient(() => begin(database, 'write'), waiting);
  const result = await work();
  transaction.commit();
  return result;
}
