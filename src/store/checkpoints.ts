/** The checkpoints of a replica's sources, in the tables that the transactions of its records write. */
import { decode } from '../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../compile/fragment.ts';
import type { ResourceLayout } from '../compile/layout/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { Field } from '../dictionary/index.ts';
import { storedState } from '../records/damage.ts';
import { isStamp } from '../records/stamps.ts';
import type { Ledger, LedgerChange, Quarantined } from './ledger.ts';
import { takeLease, writeState } from './rows/checkpoint-writer.ts';
import type { OwnTables, Row } from './session.ts';
import type { WriteReport } from './write/report.ts';

/** Marks that are deleted in one transaction. */
const FORGOTTEN_AT_ONCE = 20_000;

export interface CheckpointParts extends OwnTables {
  readonly model: () => Promise<StoreModel>;
  readonly commit: (source: string, change: LedgerChange) => Promise<WriteReport>;
}

export function checkpointsOn({ reading, locked, model, commit }: CheckpointParts): Ledger {
  const { dialect, rows } = reading;
  /** Asks the table of a resource; `nothing` where there is none. */
  const ask = async <T>(
    resource: string,
    nothing: T,
    asked: (records: Sql, layout: ResourceLayout) => Promise<T>,
  ): Promise<T> => {
    const { stores, layout } = await model();
    if (!stores(resource)) return nothing;
    return asked(sql`${name(layout(resource).columnsTable)} r`, layout(resource));
  };
  const number = async (statement: Sql): Promise<number> => Number((await rows(statement))[0]?.n ?? 0);
  const keysOf = async (statement: Sql): Promise<string[]> =>
    (await rows(statement)).map((row) => String(row.key));
  const isOf = (source: string, resource: string): Sql =>
    sql`source = ${bind(source)} AND resource = ${bind(resource)}`;
  const isUnseen = (source: string, resource: string, sweep: number): Sql =>
    sql`r._source = ${bind(source)} AND NOT EXISTS (SELECT 1 FROM plat_ledger_seen
      WHERE ${isOf(source, resource)} AND key = r._key AND sweep >= ${bind(sweep)})`;
  const stateOf = (source: string, each: string): Sql =>
    sql`SELECT name, value FROM plat_ledger_state WHERE source = ${bind(source)} AND name = ${bind(each)}`;

  return {
    commit,
    sources: () => keysOf(sql`SELECT DISTINCT source AS key FROM plat_ledger_state ORDER BY source`),
    async state(source) {
      const found = await rows(sql`SELECT name, value FROM plat_ledger_state WHERE source = ${bind(source)}`);
      return Object.fromEntries(found.map((row) => [String(row.name), storedState(row)]));
    },
    missing: (source, resource, keys) =>
      ask<readonly string[]>(resource, keys, async (records) => {
        const found = await keysOf(sql`SELECT r._key AS key FROM ${records}
          WHERE ${dialect.oneOf(sql`r._key`, keys)} AND r._source = ${bind(source)}`);
        const stored = new Set(found);
        return keys.filter((key) => !stored.has(key));
      }),
    stamps: (resource, keys) =>
      ask<ReadonlyMap<string, Readonly<Record<string, string>>>>(
        resource,
        new Map(),
        async (records, layout) => {
          const fields = layout.fields.filter(isStamp);
          const columns = [sql`r._key`, ...fields.map((field) => sql`r.${name(field.name)}`)];
          const found = await rows(
            sql`SELECT ${join(columns, ', ')} FROM ${records} WHERE ${dialect.oneOf(sql`r._key`, keys)}`,
          );
          return new Map(found.map((row) => [String(row._key), stampsOf(fields, row)]));
        },
      ),
    stored: (source, resource) =>
      ask(resource, 0, (records) =>
        number(sql`SELECT count(*) AS n FROM ${records} WHERE r._source = ${bind(source)}`),
      ),
    unseen: (source, resource, sweep, after, limit) =>
      ask<readonly string[]>(resource, [], (records) =>
        keysOf(sql`SELECT r._key AS key FROM ${records}
          WHERE ${isUnseen(source, resource, sweep)} AND r._key > ${bind(after)} ORDER BY r._key LIMIT ${integer(limit)}`),
      ),
    marked: (source, resource, sweep, keys) =>
      keysOf(sql`SELECT key FROM plat_ledger_seen
        WHERE ${isOf(source, resource)} AND sweep >= ${bind(sweep)} AND ${dialect.oneOf(sql`key`, keys)}`),
    unseenCount: (source, resource, sweep) =>
      ask(resource, 0, (records) =>
        number(sql`SELECT count(*) AS n FROM ${records} WHERE ${isUnseen(source, resource, sweep)}`),
      ),
    forgetSeen: (source, resource, sweep) =>
      locked(({ run }) =>
        run(sql`DELETE FROM plat_ledger_seen WHERE ${isOf(source, resource)} AND key IN (SELECT key FROM plat_ledger_seen
          WHERE ${isOf(source, resource)} AND sweep < ${bind(sweep)} LIMIT ${integer(FORGOTTEN_AT_ONCE)})`),
      ),
    wanted: (source, resource, why, after, limit) =>
      keysOf(sql`SELECT key FROM plat_ledger_wanted
        WHERE ${isOf(source, resource)} AND why = ${bind(why)} AND key > ${bind(after)} ORDER BY key LIMIT ${integer(limit)}`),
    wantedCount: (source, resource, why) =>
      number(sql`SELECT count(*) AS n FROM plat_ledger_wanted
        WHERE ${isOf(source, resource)} AND why = ${bind(why)}`),
    storedKeys: (source, resource, after, limit) =>
      ask<readonly string[]>(resource, [], (records) =>
        keysOf(sql`SELECT r._key AS key FROM ${records} WHERE r._key > ${bind(after)} AND r._source = ${bind(source)}
          ORDER BY r._key LIMIT ${integer(limit)}`),
      ),
    async quarantined(source) {
      const ofSource = source === undefined ? sql`TRUE` : sql`source = ${bind(source)}`;
      const found = await rows(
        sql`SELECT * FROM plat_quarantine WHERE ${ofSource} ORDER BY source, resource, key`,
      );
      return found.map(quarantinedOf);
    },
    exchange: (source, each, change) =>
      locked(async (session) => {
        const [row] = await session.rows(stateOf(source, each));
        await writeState(session, source, each, change(row === undefined ? undefined : storedState(row)));
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

function stampsOf(fields: readonly Field[], row: Row): Record<string, string> {
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
