import { keyOf, useOf } from '../../store/key-rows.ts';
import { addUse, type KeyStore, type KeyUse, NO_USE } from '../../store/key-store.ts';
import type { Connection } from './connection.ts';

/** @param write runs a change under the write lock */
export function sqliteKeys(connection: Connection, write: <T>(work: () => T) => Promise<T>): KeyStore {
  const { database } = connection;
  return {
    async find(tokenHash) {
      const row = connection.prepare('SELECT * FROM plat_keys WHERE token_hash = ?').get(tokenHash);
      return row === undefined ? undefined : keyOf(row);
    },
    add: (key, tokenHash) =>
      write(() => {
        database
          .prepare('INSERT INTO plat_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
          .run(
            key.id,
            tokenHash,
            key.name,
            key.kind,
            key.role,
            JSON.stringify(key.systems),
            key.createdAt,
            key.expiresAt,
            key.revokedAt,
          );
      }),
    async list() {
      const rows = connection
        .prepare('SELECT * FROM plat_keys LEFT JOIN plat_key_use ON key_id = id ORDER BY created_at, id')
        .all();
      return rows.map((row) => ({ ...keyOf(row), use: useOf(row) }));
    },
    revoke: (id, at) =>
      write(
        () => database.prepare('UPDATE plat_keys SET revoked_at = ? WHERE id = ?').run(at, id).changes > 0,
      ),
    recordUse: (uses) =>
      write(() => {
        for (const [id, use] of uses) recordUse(connection, id, use);
      }),
  };
}

function recordUse(connection: Connection, id: string, use: KeyUse): void {
  const row = connection.prepare('SELECT * FROM plat_key_use WHERE key_id = ?').get(id);
  const sum = addUse(row === undefined ? NO_USE : useOf(row), use);
  connection
    .prepare('INSERT OR REPLACE INTO plat_key_use VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(id, sum.requests, sum.rows, sum.bytes, sum.lastRequestAt, sum.lastWindow, sum.lastSweepAt);
}
