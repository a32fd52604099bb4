import { type Keys, type Lease, LeaseLost, type LedgerWriter } from '../../store/ledger.ts';
import type { ServerSession } from './connection/session.ts';

/** Takes or renews a lease; false when somebody else holds it. */
export async function takeLease(
  session: ServerSession,
  source: string,
  { holder, now, until }: Lease,
): Promise<boolean> {
  const rows = await session.run(
    `INSERT INTO plat_leases VALUES ($1, $2, $3) ON CONFLICT (source) DO UPDATE SET holder = excluded.holder,
     expires = excluded.expires WHERE plat_leases.holder = excluded.holder OR plat_leases.expires <= $4`,
    [source, holder, until, now],
  );
  return rows > 0;
}

/** Renews a lease that nobody else has taken meanwhile, not even one who gave it back since. */
async function keepLease(session: ServerSession, source: string, { holder, until }: Lease): Promise<boolean> {
  const text = 'UPDATE plat_leases SET expires = $3 WHERE source = $1 AND holder = $2';
  return (await session.run(text, [source, holder, until])) > 0;
}

/** Writes the account on a session that is in a transaction. */
export function postgresLedgerWriter(session: ServerSession): LedgerWriter {
  const forKeys = async (
    text: string,
    source: string,
    { resource, keys }: Keys,
    ...more: (string | number)[]
  ): Promise<void> => {
    if (keys.length > 0) await session.run(text, [source, resource, [...new Set(keys)], ...more]);
  };
  return {
    async sources() {
      const rows = await session.rows('SELECT DISTINCT source FROM plat_ledger_state', []);
      return new Set(rows.map((row) => String(row.source)));
    },
    async renewLease(source, lease) {
      if (!(await keepLease(session, source, lease))) {
        throw new LeaseLost(`Another process has been at work on ${source}`);
      }
    },
    async apply(source, change, at) {
      for (const [name, value] of Object.entries(change.state ?? {})) {
        if (value === null) {
          await session.run('DELETE FROM plat_ledger_state WHERE source = $1 AND name = $2', [source, name]);
        } else await session.run(STATE, [source, name, JSON.stringify(value)]);
      }
      for (const { sweep, ...keys } of change.seen ?? []) await forKeys(SEE, source, keys, sweep);
      for (const { why, ...keys } of change.want ?? []) await forKeys(WANT, source, keys, why);
      for (const { why, ...keys } of change.got ?? []) await forKeys(GOT, source, keys, why);
      for (const { resource, key, reason, payload } of change.quarantine ?? []) {
        // Texts of the server cannot hold the character 0; a payload is JSON, where it is written otherwise.
        await session.run(QUARANTINE, [source, resource, key, reason, payload, at].map(withoutNul));
      }
      for (const keys of change.release ?? []) await forKeys(RELEASE, source, keys);
    },
  };
}

const withoutNul = (text: string): string => text.replaceAll('\0', '\\u0000');

export const STATE = `INSERT INTO plat_ledger_state VALUES ($1, $2, $3)
  ON CONFLICT (source, name) DO UPDATE SET value = excluded.value`;
const SEE = `INSERT INTO plat_ledger_seen SELECT $1, $2, key, $4::bigint FROM unnest($3::text[]) key
  ON CONFLICT (source, resource, key) DO UPDATE SET sweep = greatest(plat_ledger_seen.sweep, excluded.sweep)`;
const WANT = `INSERT INTO plat_ledger_wanted SELECT $1, $2, $4, key FROM unnest($3::text[]) key ON CONFLICT DO NOTHING`;
const GOT = `DELETE FROM plat_ledger_wanted
  WHERE source = $1 AND resource = $2 AND why = $4 AND key = ANY($3::text[])`;
const QUARANTINE = `INSERT INTO plat_quarantine VALUES ($1, $2, $3, $4, $5, $6, $6, 1)
  ON CONFLICT (source, resource, key) DO UPDATE SET reason = excluded.reason, payload = excluded.payload,
  last_at = excluded.last_at, attempts = plat_quarantine.attempts + 1`;
const RELEASE = 'DELETE FROM plat_quarantine WHERE source = $1 AND resource = $2 AND key = ANY($3::text[])';
