/**
 * The one place that begins and ends transactions of the embedded engine: `using transaction = begin(…)`. The transaction has
 * ended when the scope is left, whatever the scope throws. It knows nothing of the work inside.
 */
import type { DatabaseSync } from 'node:sqlite';

export interface Transaction extends Disposable {
  /** Commits. Without it everything is undone when the scope is left. */
  commit(): void;
}

/** Connections whose transaction a scope owns. */
const owned = new WeakSet<DatabaseSync>();

/** @param kind `write` takes the write lock of the file, and throws when another connection has it */
export function begin(database: DatabaseSync, kind: 'read' | 'write'): Transaction {
  if (owned.has(database)) throw new Error('A transaction of this connection has not ended');
  // A transaction whose end failed, such as on a full disk, has no owner that could still end it.
  if (database.isTransaction) database.exec('ROLLBACK');
  database.exec(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  owned.add(database);
  return {
    commit() {
      if (database.isTransaction) database.exec('COMMIT');
    },
    [Symbol.dispose]() {
      owned.delete(database);
      try {
        if (database.isTransaction) database.exec('ROLLBACK');
      } catch {
        // The error of the scope is the one to report; the next transaction ends this one first.
      }
    },
  };
}
