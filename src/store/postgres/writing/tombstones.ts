import type { Session } from '../connection/session.ts';

/** What is left of the deleted records of one resource. */
export interface Tombstones {
  bury(rows: readonly { readonly key: string; readonly system: string | null }[]): Promise<void>;
  /** A record that comes again leaves its tombstone. */
  unbury(keys: readonly string[]): Promise<void>;
}

/** @param stamp of the transaction */
export const tombstones = (session: Session, resource: string, stamp: string): Tombstones => ({
  async bury(rows) {
    await session.run(
      `INSERT INTO plat_tombstones SELECT $1, key, system, $2 FROM json_to_recordset($3) AS v(key text, system text)
       ON CONFLICT (resource, key) DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at`,
      [resource, stamp, JSON.stringify(rows.map(({ key, system }) => ({ key, system })))],
    );
  },
  async unbury(keys) {
    if (keys.length === 0) return;
    const these = 'resource = $1 AND key = ANY($2::text[])';
    await session.run(`DELETE FROM plat_tombstones WHERE ${these}`, [resource, keys]);
  },
});
