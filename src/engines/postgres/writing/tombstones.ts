import type { Tombstone } from '../../../records/rows.ts';
import type { ServerSession } from '../connection/session.ts';

/** What is left of the deleted records of one resource. */
export interface Tombstones {
  bury(
    rows: readonly { readonly key: string; readonly system: string | null; readonly deletedAt: string }[],
  ): Promise<void>;
  /** A record that comes again leaves its tombstone. */
  unbury(keys: readonly string[]): Promise<void>;
}

export const tombstones = (session: ServerSession, resource: string): Tombstones => ({
  async bury(rows) {
    await session.run(
      `INSERT INTO plat_tombstones SELECT $1, key, system, "deletedAt"
       FROM json_to_recordset($2) AS v(key text, system text, "deletedAt" text)
       ON CONFLICT (resource, key) DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at`,
      [resource, JSON.stringify(rows.map(({ key, system, deletedAt }) => ({ key, system, deletedAt })))],
    );
  },
  async unbury(keys) {
    if (keys.length === 0) return;
    const these = 'resource = $1 AND key = ANY($2::text[])';
    await session.run(`DELETE FROM plat_tombstones WHERE ${these}`, [resource, keys]);
  },
});

/** Of all resources, later deletions in their order. */
export async function tombstonesAfter(
  session: ServerSession,
  moment: string,
  limit: number,
): Promise<Tombstone[]> {
  const found = await session.rows(
    `SELECT resource, key, deleted_at FROM plat_tombstones WHERE deleted_at > $1 ORDER BY deleted_at, resource, key LIMIT ${limit}`,
    [moment],
  );
  return found.map((row) => ({
    resource: String(row.resource),
    key: String(row.key),
    deletedAt: String(row.deleted_at),
  }));
}

export async function restampTombstones(session: ServerSession, moved: readonly Tombstone[]): Promise<void> {
  if (moved.length === 0) return;
  await session.run(
    `UPDATE plat_tombstones t SET deleted_at = v."deletedAt"
     FROM json_to_recordset($1) AS v(resource text, key text, "deletedAt" text)
     WHERE t.resource = v.resource AND t.key = v.key`,
    [JSON.stringify(moved)],
  );
}
