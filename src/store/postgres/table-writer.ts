import type { ResourceLayout } from '../layout/index.ts';
import type { StoredRow } from '../write/transaction.ts';
import type { Court } from './judge.ts';
import { type RowPutter, rowPutter } from './put-rows.ts';
import { type Restamper, restamper } from './restamp-rows.ts';
import { type StoredRows, storedRows } from './stored-rows.ts';

/** What a transaction does to the records of one resource. */
export interface TableWriter extends Omit<StoredRows, 'after'>, Pick<RowPutter, 'put'>, Restamper {
  remove(rows: readonly StoredRow[]): Promise<void>;
}

/** @param stamp of the transaction, for tombstones */
export function tableWriter(court: Court, layout: ResourceLayout, stamp: string): TableWriter {
  const { session, counters } = court;
  const resource = layout.resource.name;
  const stored = storedRows(session, layout);
  const putter = rowPutter(court, layout);

  return { ...stored, put: putter.put, ...restamper(session, layout, stored, putter), remove };

  async function remove(rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return;
    const taken = await putter.take(rows.map(({ key }) => key));
    const graves = rows.map((row) => ({ key: row.key, ...(taken.get(row.key) ?? row) }));
    for (const { visible, system } of graves) counters.add(resource, visible, system, -1);
    await session.run(
      `INSERT INTO plat_tombstones SELECT $1, key, system, $2 FROM json_to_recordset($3) AS v(key text, system text)
       ON CONFLICT (resource, key) DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at`,
      [resource, stamp, JSON.stringify(graves.map(({ key, system }) => ({ key, system })))],
    );
    await counters.flush();
  }
}
