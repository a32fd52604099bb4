import type { Tombstone } from '../../records/rows.ts';
import type { Connection } from './connection.ts';

/** What is left of the deleted records of one resource. */
export interface Tombstones {
  bury(key: string, system: string | null, deletedAt: string): void;
  /** A record that comes again leaves its tombstone. */
  unbury(key: string): void;
}

export function tombstones(connection: Connection, resource: string): Tombstones {
  let hasSome: boolean | undefined;
  return {
    bury(key, system, deletedAt) {
      hasSome = true;
      connection
        .prepare(
          'INSERT INTO plat_tombstones VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at',
        )
        .run(resource, key, system, deletedAt);
    },
    unbury(key) {
      hasSome ??=
        connection.prepare('SELECT 1 FROM plat_tombstones WHERE resource = ?').get(resource) !== undefined;
      if (!hasSome) return;
      connection.prepare('DELETE FROM plat_tombstones WHERE resource = ? AND key = ?').run(resource, key);
    },
  };
}

/** Of all resources, later deletions in their order. */
export function tombstonesAfter(connection: Connection, moment: string, limit: number): Tombstone[] {
  const found = connection
    .prepare(
      `SELECT resource, key, deleted_at FROM plat_tombstones WHERE deleted_at > ? ORDER BY deleted_at, resource, key LIMIT ${limit}`,
    )
    .all(moment);
  return found.map((row) => ({
    resource: String(row.resource),
    key: String(row.key),
    deletedAt: String(row.deleted_at),
  }));
}

export function restampTombstones(connection: Connection, moved: readonly Tombstone[]): void {
  const update = connection.prepare(
    'UPDATE plat_tombstones SET deleted_at = ? WHERE resource = ? AND key = ?',
  );
  for (const { resource, key, deletedAt } of moved) update.run(deletedAt, resource, key);
}
