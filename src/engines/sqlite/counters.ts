import { AFTER_VALUES, VALUES, type ValueInUse, valuesOf } from '../../compile/values-in-use.ts';
import { PendingCounts } from '../../store/write/pending-counts.ts';
import type { Connection } from './connection.ts';

/**
 * How many rows each resource has of each visibility and originating system, kept in the transaction that changes
 * them, so that a count need not look at the rows.
 */
export interface Counters {
  add(resource: string, visible: number, system: string | null, rows: number): void;
  /** Writes what was added since the last time. */
  flush(): void;
  /** The values whose counters were written since the last time. */
  valuesChanged(): ValueInUse[];
  /** All values that are in use. */
  valuesInUse(): ValueInUse[];
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
    valuesChanged() {
      const changed = pending.takeValues();
      if (changed.length === 0) return [];
      const among = 'resource IN (SELECT value FROM json_each(?))';
      const list = JSON.stringify(changed);
      connection.prepare(`DELETE FROM plat_counters WHERE rows = 0 AND ${among}`).run(list);
      const rows = connection.prepare(`SELECT resource, visible FROM plat_counters WHERE ${among}`).all(list);
      return valuesOf(rows, changed);
    },
    valuesInUse: () =>
      valuesOf(
        connection
          .prepare(
            'SELECT resource, visible FROM plat_counters WHERE resource > ? AND resource < ? AND rows <> 0',
          )
          .all(VALUES, AFTER_VALUES),
      ),
  };
}
