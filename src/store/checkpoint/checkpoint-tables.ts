/** Reads and writes the checkpoint of a replica's sources, in the same transactions as the records. */
import { decode } from '../../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field } from '../../dictionary/index.ts';
import { parseSourceState } from '../../records/damage.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';
import type { OwnTables, Row, Session } from '../session.ts';
import {
  type Checkpoints,
  type CheckpointWriter,
  type Keys,
  type Lease,
  LeaseLost,
  type Quarantined,
} from './checkpoints.ts';

/** The number of marks that one transaction deletes. */
const MARKS_DELETED_AT_ONCE = 20_000;

interface CheckpointParts extends OwnTables, Pick<Checkpoints, 'commit' | 'commitTogether'> {
  readonly model: () => Promise<StoreModel>;
}

export function checkpointsOn({
  reading,
  locked,
  model,
  commit,
  commitTogether,
}: CheckpointParts): Checkpoints {
  const { dialect, rows } = reading;
  /** Queries the table of a resource; returns `nothing` if there is no such table. */
  const queryTable = async <T>(
    resource: string,
    nothing: T,
    query: (records: Sql, layout: ResourceLayout) => Promise<T>,
  ): Promise<T> => {
    const { stores, layout } = await model();
    if (!stores(resource)) return nothing;
    return query(sql`${name(layout(resource).columnsTable)} r`, layout(resource));
  };
  const number = async (statement: Sql): Promise<number> => Number((await rows(statement))[0]?.n ?? 0);
  const keysOf = async (statement: Sql): Promise<string[]> =>
    (await rows(statement)).map((row) => String(row.key));
  /**
   * A mark is looked up by its whole key for each record. A server that has no statistics of marks, because all of them are new, would
   * plan NOT EXISTS as a comparison of every record with every mark.
   */
  const isUnseen = (source: string, resource: string, sweep: number): Sql =>
    sql`r._source = ${bind(source)} AND coalesce((SELECT m.sweep FROM plat_ledger_seen m
      WHERE m.source = ${bind(source)} AND m.resource = ${bind(resource)} AND m.key = r._key), -1) < ${bind(sweep)}`;
  const stateOf = (source: string, each: string): Sql =>
    sql`SELECT name, value FROM plat_ledger_state WHERE source = ${bind(source)} AND name = ${bind(each)}`;

  return {
    commit,
    commitTogether,
    sources: () => keysOf(sql`SELECT DISTINCT source AS key FROM plat_ledger_state ORDER BY source`),
    async state(source) {
      const found = await rows(sql`SELECT name, value FROM plat_ledger_state
        WHERE source = ${bind(source)} ORDER BY name`);
      return Object.fromEntries(found.map((row) => [String(row.name), parseSourceState(row)]));
    },
    missing: (source, resource, keys) =>
      queryTable<readonly string[]>(resource, keys, async (records) => {
        const found = await keysOf(sql`SELECT r._key AS key FROM ${records}
          WHERE ${dialect.oneOf(sql`r._key`, keys)} AND r._source = ${bind(source)}`);
        const stored = new Set(found);
        return keys.filter((key) => !stored.has(key));
      }),
    timestamps: (resource, keys) =>
      queryTable<ReadonlyMap<string, Readonly<Record<string, string>>>>(
        resource,
        new Map(),
        async (records, layout) => {
          const fields = layout.fields.filter(isAssignedTimestamp);
          const columns = [sql`r._key`, ...fields.map((field) => sql`r.${name(field.name)}`)];
          const found = await rows(
            sql`SELECT ${join(columns, ', ')} FROM ${records} WHERE ${dialect.oneOf(sql`r._key`, keys)}`,
          );
          return new Map(found.map((row) => [String(row._key), timestampsOf(fields, row)]));
        },
      ),
    stored: (source, resource) =>
      queryTable(resource, 0, (records) =>
        number(sql`SELECT count(*) AS n FROM ${records} WHERE r._source = ${bind(source)}`),
      ),
    unseen: (source, resource, sweep, after, limit) =>
      queryTable<readonly string[]>(resource, [], (records) =>
        keysOf(sql`SELECT r._key AS key FROM ${records}
          WHERE ${isUnseen(source, resource, sweep)} AND r._key > ${bind(after)} ORDER BY r._key LIMIT ${integer(limit)}`),
      ),
    marked: (source, resource, sweep, keys) =>
      keysOf(sql`SELECT key FROM plat_ledger_seen
        WHERE ${isOfResource(source, resource)} AND sweep >= ${bind(sweep)} AND ${dialect.oneOf(sql`key`, keys)}`),
    unseenCount: (source, resource, sweep) =>
      queryTable(resource, 0, (records) =>
        number(sql`SELECT count(*) AS n FROM ${records} WHERE ${isUnseen(source, resource, sweep)}`),
      ),
    deleteMarks: (source, resource, sweep) =>
      locked(({ run }) =>
        run(sql`WITH stale AS (SELECT key FROM plat_ledger_seen
            WHERE ${isOfResource(source, resource)} AND sweep < ${bind(sweep)} ORDER BY key LIMIT ${integer(MARKS_DELETED_AT_ONCE)})
          DELETE FROM plat_ledger_seen WHERE ${isOfResource(source, resource)} AND sweep < ${bind(sweep)}
            AND key <= (SELECT max(key) FROM stale)`),
      ),
    pending: (source, resource, why, after, limit) =>
      keysOf(sql`SELECT key FROM plat_ledger_wanted
        WHERE ${isOfResource(source, resource)} AND why = ${bind(why)} AND key > ${bind(after)} ORDER BY key LIMIT ${integer(limit)}`),
    pendingCount: (source, resource, why) =>
      number(sql`SELECT count(*) AS n FROM plat_ledger_wanted
        WHERE ${isOfResource(source, resource)} AND why = ${bind(why)}`),
    storedKeys: (source, resource, after, limit) =>
      queryTable<readonly string[]>(resource, [], (records) =>
        keysOf(sql`SELECT r._key AS key FROM ${records} WHERE r._key > ${bind(after)} AND r._source = ${bind(source)}
          ORDER BY r._key LIMIT ${integer(limit)}`),
      ),
    async quarantined(source, part) {
      const cut = part === undefined ? sql`` : sql`LIMIT ${integer(part.limit)} OFFSET ${integer(part.skip)}`;
      const found = await rows(
        sql`SELECT * FROM plat_quarantine WHERE ${isOfSource(source)} ORDER BY source, resource, key ${cut}`,
      );
      return found.map(quarantinedOf);
    },
    quarantinedCount: (source) =>
      number(sql`SELECT count(*) AS n FROM plat_quarantine WHERE ${isOfSource(source)}`),
    exchange: (source, each, change) =>
      locked(async (session) => {
        const [row] = await session.rows(stateOf(source, each));
        await writeState(
          session,
          source,
          each,
          change(row === undefined ? undefined : parseSourceState(row)),
        );
      }),
    lease: (source, lease) => locked((session) => takeLease(session, source, lease)),
    releaseLease: (source, holder) =>
      locked(async ({ run }) => {
        await run(sql`DELETE FROM plat_leases WHERE source = ${bind(source)} AND holder = ${bind(holder)}`);
      }),
    async leaseHolder(source) {
      const [row] = await rows(sql`SELECT holder, expires FROM plat_leases WHERE source = ${bind(source)}`);
      return row === undefined ? undefined : { holder: String(row.holder), expires: Number(row.expires) };
    },
  };
}

function timestampsOf(fields: readonly Field[], row: Row): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const field of fields) {
    const value = decode(field, row[field.name]);
    if (typeof value === 'string') texts[field.name] = value;
  }
  return texts;
}

const quarantinedOf = (row: Row): Quarantined => ({
  source: String(row.source),
  resource: String(row.resource),
  key: String(row.key),
  reason: String(row.reason),
  payload: String(row.payload),
  firstAt: String(row.first_at),
  lastAt: String(row.last_at),
  attempts: Number(row.attempts),
});

/** The rows of a source, or of all. */
const isOfSource = (source: string | undefined): Sql =>
  source === undefined ? sql`TRUE` : sql`source = ${bind(source)}`;

/** The condition for the rows of one resource of a source. */
const isOfResource = (source: string, resource: string): Sql =>
  sql`source = ${bind(source)} AND resource = ${bind(resource)}`;

/** Sets an entry in the state of a source. */
async function writeState({ run }: Session, source: string, name: string, value: unknown): Promise<void> {
  await run(sql`INSERT INTO plat_ledger_state (source, name, value)
    VALUES (${bind(source)}, ${bind(name)}, ${bind(JSON.stringify(value))})
    ON CONFLICT (source, name) DO UPDATE SET value = excluded.value`);
}

/** Takes or renews a lease; false if another process has it. */
async function takeLease({ run }: Session, source: string, { holder, now, until }: Lease): Promise<boolean> {
  const taken = await run(sql`INSERT INTO plat_leases (source, holder, expires)
    VALUES (${bind(source)}, ${bind(holder)}, ${bind(until)})
    ON CONFLICT (source) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
    WHERE plat_leases.holder = excluded.holder OR plat_leases.expires <= ${bind(now)}`);
  return taken > 0;
}

/** Renews a lease, unless another process has taken it in the meantime, even if it has released it since. */
async function extendLease({ run }: Session, source: string, { holder, until }: Lease): Promise<boolean> {
  const kept = await run(sql`UPDATE plat_leases SET expires = ${bind(until)}
    WHERE source = ${bind(source)} AND holder = ${bind(holder)}`);
  return kept > 0;
}

export function checkpointWriter(session: Session): CheckpointWriter {
  const { dialect, run } = session;
  /** Runs a statement over distinct keys, as a table `k(value)` or a condition on the column `key`. */
  const forKeys = async (
    keys: readonly string[],
    statement: (table: Sql, isKey: Sql) => Sql,
  ): Promise<void> => {
    if (keys.length === 0) return;
    const distinct = [...new Set(keys)];
    const table = dialect.members(bind(JSON.stringify(distinct)), 'k');
    await run(statement(table, dialect.oneOf(sql`key`, distinct)));
  };
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
      if (!(await extendLease(session, source, lease)))
        throw new LeaseLost(`Another process has replicated ${source}`);
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
            sql`DELETE FROM plat_ledger_wanted WHERE ${isOfResource(source, resource)} AND why = ${bind(why)} AND ${isKey}`,
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
          (_, isKey) => sql`DELETE FROM plat_quarantine WHERE ${isOfResource(source, resource)} AND ${isKey}`,
        );
      }
    },
  };
}

/** PostgreSQL's texts cannot contain U+0000. A payload is JSON, where the escape means the same. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\\u0000');
