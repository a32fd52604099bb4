import { AFTER_VALUES, VALUES, type ValueInUse, valuesOf } from '../../../compile/values-in-use.ts';
import { PendingCounts } from '../../../store/write/pending-counts.ts';
import type { ServerSession } from '../connection/session.ts';

/**
 * How many rows each resource has of each visibility and originating system, kept in the transaction that changes
 * them, so that a count need not look at the rows.
 */
export interface Counters {
  add(resource: string, visible: number, system: string | null, rows: number): void;
  /** Writes what was added since the last time. */
  flush(): Promise<void>;
  /** The values whose counters were written since the last time. */
  valuesChanged(): Promise<ValueInUse[]>;
  /** All values that are in use. */
  valuesInUse(): Promise<ValueInUse[]>;
}

export function counters(session: ServerSession): Counters {
  const pending = new PendingCounts();
  return {
    add: (resource, visible, system, rows) => pending.add(resource, visible, system, rows),
    async flush() {
      const changed = pending.take();
      if (changed.length === 0) return;
      await session.run(
        `INSERT INTO plat_counters SELECT * FROM json_to_recordset($1)
         AS v(resource text, visible integer, system text, rows bigint)
         ON CONFLICT (resource, visible, system) DO UPDATE SET rows = plat_counters.rows + excluded.rows`,
        [JSON.stringify(changed)],
      );
    },
    async valuesChanged() {
      const changed = pending.takeValues();
      if (changed.length === 0) return [];
      const among = 'resource = ANY($1::text[])';
      await session.run(`DELETE FROM plat_counters WHERE rows = 0 AND ${among}`, [changed]);
      const rows = await session.rows(`SELECT resource, visible FROM plat_counters WHERE ${among}`, [
        changed,
      ]);
      return valuesOf(rows, changed);
    },
    async valuesInUse() {
      const rows = await session.rows(
        'SELECT resource, visible FROM plat_counters WHERE resource > $1 AND resource < $2 AND rows <> 0',
        [VALUES, AFTER_VALUES],
      );
      return valuesOf(rows);
    },
  };
}
