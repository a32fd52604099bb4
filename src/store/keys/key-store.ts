/** The keys of a store, and their use. Only the hash of a token is stored. */
import { KEY_KINDS, type KeyRecord } from '../../access/index.ts';
import { textOrNull } from '../../compile/column-value.ts';
import { bind, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { Damage, storedTexts } from '../../records/damage.ts';
import type { OwnTables, Row } from '../session.ts';
import { ownColumns } from '../state/own-tables.ts';

/** The use of a key since it was last recorded. Moments are numbers until the use is recorded, and then timestamps. */
export interface KeyUse<Moment = string> {
  readonly requests: number;
  readonly rows: number;
  readonly bytes: number;
  /** The time of the last request. */
  readonly lastRequestAt: Moment | null;
  /** The last update window that was requested, `from/to`. */
  readonly lastWindow: string | null;
  /** When a walk over all keys last reached its end, which shows whether this client purges daily. */
  readonly lastSweepAt: Moment | null;
}

export const NO_USE: KeyUse<never> = {
  requests: 0,
  rows: 0,
  bytes: 0,
  lastRequestAt: null,
  lastWindow: null,
  lastSweepAt: null,
};

/** Adds up two uses of one key; the second is the later one. */
export function addUse<Moment>(before: KeyUse<Moment>, after: KeyUse<Moment>): KeyUse<Moment> {
  return {
    requests: before.requests + after.requests,
    rows: before.rows + after.rows,
    bytes: before.bytes + after.bytes,
    lastRequestAt: after.lastRequestAt ?? before.lastRequestAt,
    lastWindow: after.lastWindow ?? before.lastWindow,
    lastSweepAt: after.lastSweepAt ?? before.lastSweepAt,
  };
}

export interface KeyStore {
  add(key: KeyRecord, tokenHash: string): Promise<void>;
  list(): Promise<readonly (KeyRecord & { readonly use: KeyUse })[]>;
  /** Rejects the key from `at` on. False if there is no such key. */
  revoke(id: string, at: string): Promise<boolean>;
  recordUse(uses: ReadonlyMap<string, KeyUse>): Promise<void>;
}

/** Selects the key whose token has this hash. */
export const selectKey = (tokenHash: string): Sql =>
  sql`SELECT * FROM plat_keys WHERE token_hash = ${bind(tokenHash)}`;

/** Parses the row of a key. @throws Damage for a row that plat does not write */
export const keyIn = ([row]: readonly Row[]): KeyRecord | undefined =>
  row === undefined ? undefined : keyOf(row);

const ALL_KEYS = sql`SELECT * FROM plat_keys LEFT JOIN plat_key_use ON key_id = id ORDER BY created_at, id`;

export function keyStoreOn({ reading, locked }: OwnTables): KeyStore {
  return {
    add: ({ id, name, kind, role, systems, createdAt, expiresAt, revokedAt }, tokenHash) =>
      locked(async ({ run }) => {
        const values = [id, tokenHash, name, kind, role, JSON.stringify(systems)];
        const moments = [createdAt, expiresAt, revokedAt];
        await run(sql`INSERT INTO plat_keys
          (id, token_hash, name, kind, role, systems, created_at, expires_at, revoked_at)
          VALUES (${join([...values, ...moments].map(bind), ', ')})`);
      }),
    async list() {
      const rows = await reading.rows(ALL_KEYS);
      return rows.map((row) => ({ ...keyOf(row), use: useOf(row) }));
    },
    revoke: (id, at) =>
      locked(async ({ run }) => {
        // A key that is revoked again keeps the earlier of the two times.
        const revoked = sql`UPDATE plat_keys SET revoked_at =
          CASE WHEN revoked_at <= ${bind(at)} THEN revoked_at ELSE ${bind(at)} END WHERE id = ${bind(id)}`;
        return (await run(revoked)) > 0;
      }),
    recordUse: (uses) =>
      locked(async ({ run, dialect }) => {
        const rows = [...uses].map(([key_id, use]) => ({
          ...{ key_id, requests: use.requests, rows: use.rows, bytes: use.bytes },
          ...{ last_request_at: use.lastRequestAt, last_window: use.lastWindow },
          last_sweep_at: use.lastSweepAt,
        }));
        const names = join([...USE.keys()].map(name), ', ');
        await run(sql`INSERT INTO plat_key_use AS u (${names})
          SELECT ${names} FROM ${dialect.objectTable(bind(JSON.stringify(rows)), 'v', USE)} WHERE TRUE
          ON CONFLICT (key_id) DO UPDATE SET requests = u.requests + excluded.requests, rows = u.rows + excluded.rows,
          bytes = u.bytes + excluded.bytes,
          last_request_at = coalesce(excluded.last_request_at, u.last_request_at),
          last_window = coalesce(excluded.last_window, u.last_window),
          last_sweep_at = coalesce(excluded.last_sweep_at, u.last_sweep_at)`);
      }),
  };
}

const USE = ownColumns('plat_key_use');

const useOf = (row: Row): KeyUse => ({
  requests: Number(row.requests ?? 0),
  rows: Number(row.rows ?? 0),
  bytes: Number(row.bytes ?? 0),
  lastRequestAt: textOrNull(row.last_request_at),
  lastWindow: textOrNull(row.last_window),
  lastSweepAt: textOrNull(row.last_sweep_at),
});

/** @throws Damage for a row that plat does not write */
export function keyOf(row: Row): KeyRecord {
  const kind = KEY_KINDS.find((known) => known === row.kind);
  if (kind === undefined) throw new Damage(`its key ${row.id} has an unknown kind`);
  return {
    id: String(row.id),
    name: String(row.name),
    kind,
    role: String(row.role),
    systems: storedTexts(row.systems, `the systems of its key ${row.id}`),
    createdAt: String(row.created_at),
    expiresAt: textOrNull(row.expires_at),
    revokedAt: textOrNull(row.revoked_at),
  };
}
