import { KEY_KINDS, type KeyRecord } from '../access/index.ts';
import { Damage } from '../records/damage.ts';
import { storedJson } from '../records/stored-json.ts';
import type { KeyUse } from './key-store.ts';

/** A row of the tables of keys, in whatever way an engine gives it. */
type Row = Readonly<Record<string, unknown>>;

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

export function useOf(row: Row): KeyUse {
  return {
    requests: Number(row.requests ?? 0),
    rows: Number(row.rows ?? 0),
    bytes: Number(row.bytes ?? 0),
    lastRequestAt: textOf(row.last_request_at),
    lastWindow: textOf(row.last_window),
    lastSweepAt: textOf(row.last_sweep_at),
  };
}

export function keyOf(row: Row): KeyRecord {
  const kind = KEY_KINDS.find((known) => known === row.kind);
  if (kind === undefined) throw new Damage(`its key ${row.id} is of a kind that no key has`);
  const systems = storedJson(row.systems, `the systems of its key ${row.id}`);
  if (!Array.isArray(systems)) throw new Damage(`the systems of its key ${row.id} are no list`);
  return {
    id: String(row.id),
    name: String(row.name),
    kind,
    role: String(row.role),
    systems: systems.map(String),
    createdAt: String(row.created_at),
    expiresAt: textOf(row.expires_at),
    revokedAt: textOf(row.revoked_at),
  };
}
