import type { ResourceLayout } from '../../layout/index.ts';
import type { StoredRow } from '../../write/transaction.ts';
import type { Court } from './judge.ts';
import { type RowPutter, rowPutter } from './put-rows.ts';
import { type Restamper, restamper } from './restamp-rows.ts';
import { type StoredRows, storedRows } from './stored-rows.ts';
import { tombstones } from './tombstones.ts';

/** What a transaction does to the records of one resource. */
export interface TableWriter extends Omit<StoredRows, 'after'>, Pick<RowPutter, 'put'>, Restamper {
  remove(rows: readonly StoredRow[]): Promise<void>;
}

/** @param stamp of the transaction, for tombstones */
export function tableWriter(court: Court, layout: ResourceLayout, stamp: string): TableWriter {
  const { session, counters } = court;
  const resource = layout.resource.name;
  const stored = storedRows(court, layout);
  const graves = tombstones(session, resource, stamp);
  const putter = rowPutter(court, layout, graves);

  return { ...stored, put: putter.put, ...restamper(session, layout, stored, putter), remove };

  async function remove(rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return;
    const taken = await putter.take(rows);
    const gone = rows.map((row) => ({ key: row.key, ...(taken.get(row.key) ?? row) }));
    for (const { visible, system } of gone) counters.add(resource, visible, system, -1);
    await graves.bury(gone);
    await counters.flush();
  }
}
