/** The tombstones of deleted records. */

import { columnKinds } from '../../compile/column-value.ts';
import { bind, integer, sql } from '../../compile/fragment.ts';
import type { Tombstone } from '../../records/rows.ts';
import type { Session } from '../session.ts';

const ADDED = columnKinds({ key: 'text', system: 'text', deleted_at: 'text' });

/** A deleted record, as its tombstone identifies it. */
interface Deleted {
  readonly key: string;
  readonly system: string | null;
  /** A canonical timestamp. */
  readonly deletedAt: string;
}

export async function addTombstones(
  { dialect, run }: Session,
  resource: string,
  deleted: readonly Deleted[],
): Promise<void> {
  const list = deleted.map(({ key, system, deletedAt }) => ({ key, system, deleted_at: deletedAt }));
  await run(sql`INSERT INTO plat_tombstones (resource, key, system, deleted_at)
    SELECT ${bind(resource)}, v.key, v.system, v.deleted_at
    FROM ${dialect.objectTable(bind(JSON.stringify(list)), 'v', ADDED)} WHERE TRUE
    ON CONFLICT (resource, key) DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at`);
}

/** Removes the tombstones of records that are stored again. */
export async function removeTombstones(
  { dialect, run }: Session,
  resource: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await run(sql`DELETE FROM plat_tombstones
    WHERE resource = ${bind(resource)} AND ${dialect.oneOf(sql`key`, keys)}`);
}

/** Tombstones of all resources with a later timestamp, in the order of the timestamps. */
export async function tombstonesAfter(
  { rows }: Session,
  moment: string,
  limit: number,
): Promise<Tombstone[]> {
  const found = await rows(sql`SELECT resource, key, deleted_at FROM plat_tombstones
    WHERE deleted_at > ${bind(moment)} ORDER BY deleted_at, resource, key LIMIT ${integer(limit)}`);
  return found.map((row) => ({
    resource: String(row.resource),
    key: String(row.key),
    deletedAt: String(row.deleted_at),
  }));
}

const MOVED = columnKinds({ resource: 'text', key: 'text', deletedAt: 'text' });

/** Changes the timestamps of tombstones. */
export async function restampTombstones(
  { dialect, run }: Session,
  moved: readonly Tombstone[],
): Promise<void> {
  if (moved.length === 0) return;
  await run(sql`UPDATE plat_tombstones AS t SET deleted_at = v."deletedAt"
    FROM ${dialect.objectTable(bind(JSON.stringify(moved)), 'v', MOVED)}
    WHERE t.resource = v.resource AND t.key = v.key`);
}
