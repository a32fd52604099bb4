import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { Court } from './judge.ts';
import { type RowPutter, rowPutter } from './put-rows.ts';
import { type Restamper, restamper } from './restamp-rows.ts';
import { type StoredRows, storedRows } from './stored-rows.ts';
import { tombstones } from './tombstones.ts';

/** What a transaction does to the records of one resource. */
export interface TableWriter extends Omit<StoredRows, 'after'>, Pick<RowPutter, 'put'>, Restamper {
  /** @param deletedAt the timestamp of each tombstone, by key */
  remove(rows: readonly StoredRow[], deletedAt: (key: string) => string): void;
}

export function tableWriter(court: Court, layout: ResourceLayout): TableWriter {
  const { connection, counters } = court;
  const resource = layout.resource.name;
  const stored = storedRows(connection, layout);
  const graves = tombstones(connection, resource);
  const putter = rowPutter(court, layout, graves);
  return {
    ...stored,
    put: putter.put,
    ...restamper(connection, layout, stored, putter),
    remove(rows, deletedAt) {
      if (rows.length === 0) return;
      for (const [key, { visible, system }] of putter.take(rows)) {
        graves.bury(key, system, deletedAt(key));
        counters.add(resource, visible, system, -1);
      }
      counters.flush();
    },
  };
}
