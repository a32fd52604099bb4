import type { ResourceLayout } from '../../../compile/layout/index.ts';
import type { StoredRow } from '../../../records/rows.ts';
import type { Court } from './judge.ts';
import { type RowPutter, rowPutter } from './put-rows.ts';
import { type Restamper, restamper } from './restamp-rows.ts';
import { type StoredRows, storedRows } from './stored-rows.ts';
import { tombstones } from './tombstones.ts';

/** What a transaction does to the records of one resource. */
export interface TableWriter extends Omit<StoredRows, 'after'>, Pick<RowPutter, 'put'>, Restamper {
  /** @param deletedAt the timestamp of each tombstone, by key */
  remove(rows: readonly StoredRow[], deletedAt: (key: string) => string): Promise<void>;
}

export function tableWriter(court: Court, layout: ResourceLayout): TableWriter {
  const { session, counters } = court;
  const resource = layout.resource.name;
  const stored = storedRows(court, layout);
  const graves = tombstones(session, resource);
  const putter = rowPutter(court, layout, graves);

  return { ...stored, put: putter.put, ...restamper(session, layout, stored, putter), remove };

  async function remove(rows: readonly StoredRow[], deletedAt: (key: string) => string): Promise<void> {
    if (rows.length === 0) return;
    const taken = await putter.take(rows);
    const gone = rows.map(({ key, ...row }) => ({
      ...{ key, deletedAt: deletedAt(key) },
      ...(taken.get(key) ?? row),
    }));
    for (const { visible, system } of gone) counters.add(resource, visible, system, -1);
    await graves.bury(gone);
    await counters.flush();
  }
}
