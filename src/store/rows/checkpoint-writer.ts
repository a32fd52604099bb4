/** Writes a replica's checkpoint, in the transaction that stores its records. */

import { bind, join, type Sql, sql } from '../../compile/fragment.ts';
import { type Keys, type Lease, LeaseLost, type LedgerWriter } from '../ledger.ts';
import type { Session } from '../session.ts';

/** Sets an entry of the state of a source. */
export async function writeState(
  { run }: Session,
  source: string,
  name: string,
  value: unknown,
): Promise<void> {
  await run(sql`INSERT INTO plat_ledger_state (source, name, value)
    VALUES (${bind(source)}, ${bind(name)}, ${bind(JSON.stringify(value))})
    ON CONFLICT (source, name) DO UPDATE SET value = excluded.value`);
}

/** Takes or renews a lease; false when another process holds it. */
export async function takeLease(
  { run }: Session,
  source: string,
  { holder, now, until }: Lease,
): Promise<boolean> {
  const taken = await run(sql`INSERT INTO plat_leases (source, holder, expires)
    VALUES (${bind(source)}, ${bind(holder)}, ${bind(until)})
    ON CONFLICT (source) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
    WHERE plat_leases.holder = excluded.holder OR plat_leases.expires <= ${bind(now)}`);
  return taken > 0;
}

/** Renews a lease that no other process has taken meanwhile, not even one that has given it back since. */
async function keepLease({ run }: Session, source: string, { holder, until }: Lease): Promise<boolean> {
  const kept = await run(sql`UPDATE plat_leases SET expires = ${bind(until)}
    WHERE source = ${bind(source)} AND holder = ${bind(holder)}`);
  return kept > 0;
}

export function checkpointWriter(session: Session): LedgerWriter {
  const { dialect, run } = session;
  /** Runs a statement over keys, each once, as a table `k(value)` or a condition on the column `key`. */
  const forKeys = async (
    keys: readonly string[],
    statement: (table: Sql, isKey: Sql) => Sql,
  ): Promise<void> => {
    if (keys.length === 0) return;
    const distinct = [...new Set(keys)];
    const table = dialect.members(bind(JSON.stringify(distinct)), 'k');
    await run(statement(table, dialect.oneOf(sql`key`, distinct)));
  };
  const isOf = (source: string, resource: string): Sql =>
    sql`source = ${bind(source)} AND resource = ${bind(resource)}`;
  const mark = (source: string, { resource, keys }: Keys, sweep: number): Promise<void> =>
    forKeys(
      keys,
      (table) => sql`INSERT INTO plat_ledger_seen (source, resource, key, sweep)
        SELECT ${bind(source)}, ${bind(resource)}, k.value, ${bind(sweep)} FROM ${table} WHERE TRUE
        ON CONFLICT (source, resource, key) DO UPDATE SET sweep = excluded.sweep
        WHERE plat_ledger_seen.sweep < excluded.sweep`,
    );
  return {
    async sources() {
      const rows = await session.rows(sql`SELECT DISTINCT source FROM plat_ledger_state`);
      return new Set(rows.map((row) => String(row.source)));
    },
    async renewLease(source, lease) {
      if (!(await keepLease(session, source, lease)))
        throw new LeaseLost(`Another process has been at work on ${source}`);
    },
    async apply(source, change, at) {
      for (const [name, value] of Object.entries(change.state ?? {})) {
        if (value !== null) await writeState(session, source, name, value);
        else {
          await run(
            sql`DELETE FROM plat_ledger_state WHERE source = ${bind(source)} AND name = ${bind(name)}`,
          );
        }
      }
      for (const { sweep, ...keys } of change.seen ?? []) await mark(source, keys, sweep);
      for (const { resource, keys, why } of change.want ?? []) {
        await forKeys(
          keys,
          (table) => sql`INSERT INTO plat_ledger_wanted (source, resource, why, key)
            SELECT ${bind(source)}, ${bind(resource)}, ${bind(why)}, k.value FROM ${table} WHERE TRUE
            ON CONFLICT DO NOTHING`,
        );
      }
      for (const { resource, keys, why } of change.got ?? []) {
        await forKeys(
          keys,
          (_, isKey) =>
            sql`DELETE FROM plat_ledger_wanted WHERE ${isOf(source, resource)} AND why = ${bind(why)} AND ${isKey}`,
        );
      }
      for (const { resource, key, reason, payload } of change.quarantine ?? []) {
        const texts = [source, resource, key, reason, payload, at, at].map((text) => bind(withoutNul(text)));
        await run(sql`INSERT INTO plat_quarantine
          (source, resource, key, reason, payload, first_at, last_at, attempts) VALUES (${join(texts, ', ')}, 1)
          ON CONFLICT (source, resource, key) DO UPDATE SET reason = excluded.reason, payload = excluded.payload,
          last_at = excluded.last_at, attempts = plat_quarantine.attempts + 1`);
      }
      for (const { resource, keys } of change.release ?? []) {
        await forKeys(
          keys,
          (_, isKey) => sql`DELETE FROM plat_quarantine WHERE ${isOf(source, resource)} AND ${isKey}`,
        );
      }
    },
  };
}

/** A server's texts cannot hold the character 0. A payload is JSON, which writes it otherwise. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\\u0000');
