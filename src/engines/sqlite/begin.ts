/**
 * The one place that begins and ends transactions of the embedded engine: `using transaction = begin(…)`. Whatever throws
 * in the scope, and wherever, the transaction has ended when the scope is left. It knows nothing of what is done inside.
 */
import type { DatabaseSync } from 'node:sqlite';

export interface Transaction extends Disposable {
  /** Keeps what was written. Without it everything is undone when the scope is left. */
  commit(): void;
}

/** Connections whose transaction a scope owns. */
const owned = new WeakSet<DatabaseSync>();

/** @param kind `write` takes the write lock of the file, and throws when another connection has it */
export function begin(database: DatabaseSync, kind: 'read' | 'write'): Transaction {
  if (owned.has(database)) throw new Error('A transaction of this connection has not ended');
  // One whose end failed, such as on a full disk, has no owner any more; nobody else would ever end it.
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
        // What the scope failed with is what counts; the next transaction ends this one first.
      }
    },
  };
}
