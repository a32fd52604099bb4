import { keyOf, useOf } from '../../store/key-rows.ts';
import type { KeyStore } from '../../store/key-store.ts';
import { addUse, type KeyUse, NO_USE } from '../../store/key-store.ts';
import type { Row } from '../../store/session.ts';
import type { Bindable, ServerSession } from './connection/session.ts';

/**
 * A key is looked up in the store at each request: what one process revokes is refused by all of them at once.
 * @param locked runs a change under the write lock
 */
export function postgresKeys(
  rows: (text: string, values: readonly Bindable[]) => Promise<readonly Row[]>,
  locked: <T>(work: (session: ServerSession) => Promise<T>) => Promise<T>,
): KeyStore {
  return {
    async find(tokenHash) {
      const [row] = await rows('SELECT * FROM plat_keys WHERE token_hash = $1', [tokenHash]);
      return row === undefined ? undefined : keyOf(row);
    },
    add: (key, tokenHash) =>
      locked(async (session) => {
        const { id, name, kind, role, systems, createdAt, expiresAt, revokedAt } = key;
        await session.run('INSERT INTO plat_keys VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
          ...[id, tokenHash, name, kind, role, JSON.stringify(systems)],
          ...[createdAt, expiresAt, revokedAt],
        ]);
      }),
    async list() {
      const listed = await rows(
        'SELECT * FROM plat_keys LEFT JOIN plat_key_use ON key_id = id ORDER BY created_at, id',
        [],
      );
      return listed.map((row) => ({ ...keyOf(row), use: useOf(row) }));
    },
    revoke: (id, at) =>
      locked(async (session) => {
        const changed = await session.run('UPDATE plat_keys SET revoked_at = $1 WHERE id = $2', [at, id]);
        return changed > 0;
      }),
    recordUse: (uses) =>
      locked(async (session) => {
        for (const [id, use] of uses) await recordUse(session, id, use);
      }),
  };
}

async function recordUse(session: ServerSession, id: string, use: KeyUse): Promise<void> {
  const [row] = await session.rows('SELECT * FROM plat_key_use WHERE key_id = $1', [id]);
  const sum = addUse(row === undefined ? NO_USE : useOf(row), use);
  await session.run('DELETE FROM plat_key_use WHERE key_id = $1', [id]);
  await session.run('INSERT INTO plat_key_use VALUES ($1, $2, $3, $4, $5, $6, $7)', [
    ...[id, sum.requests, sum.rows, sum.bytes],
    ...[sum.lastRequestAt, sum.lastWindow, sum.lastSweepAt],
  ]);
}
