import { PendingCounts } from '../write/pending-counts.ts';
import type { Connection } from './connection.ts';

/**
 * How many rows each resource has of each visibility and originating system, kept in the transaction that changes
 * them, so that a count need not look at the rows.
 */
export interface Counters {
  add(resource: string, visible: number, system: string | null, rows: 1 | -1): void;
  /** Writes what was added since the last time. */
  flush(): void;
}

export function counters(connection: Connection): Counters {
  const pending = new PendingCounts();
  return {
    add: (resource, visible, system, rows) => pending.add(resource, visible, system, rows),
    flush() {
      const put = connection.prepare(
        'INSERT INTO plat_counters VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows',
      );
      for (const { resource, visible, system, rows } of pending.take()) {
        put.run(resource, visible, system, rows);
      }
    },
  };
}
