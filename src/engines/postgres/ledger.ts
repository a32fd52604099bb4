import { decode } from '../../compile/column-value.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field } from '../../dictionary/index.ts';
import { isStamp } from '../../records/stamps.ts';
import { storedState } from '../../records/stored-json.ts';
import type { Ledger, LedgerChange, Quarantined } from '../../store/ledger.ts';
import type { Row } from '../../store/session.ts';
import type { WriteReport } from '../../store/write/report.ts';
import type { Bindable, ServerSession } from './connection/session.ts';
import { STATE, takeLease } from './ledger-writer.ts';

/** Marks that are deleted under one hold of the write lock. */
const FORGOTTEN_AT_ONCE = 20_000;

/** What the account is kept with. */
export interface LedgerParts {
  readonly rows: (text: string, values: readonly Bindable[]) => Promise<readonly Row[]>;
  readonly model: () => Promise<StoreModel>;
  readonly commit: (source: string, change: LedgerChange) => Promise<WriteReport>;
  /** Runs a change under the write lock. */
  readonly locked: <T>(work: (session: ServerSession) => Promise<T>) => Promise<T>;
}

export function postgresLedger({ rows, model, commit, locked }: LedgerParts): Ledger {
  /** Asks the table of a resource; `nothing` where there is none. */
  const ask = async <T>(
    resource: string,
    nothing: T,
    asked: (layout: ResourceLayout, table: string) => Promise<T>,
  ): Promise<T> => {
    const { stores, layout } = await model();
    return stores(resource) ? asked(layout(resource), `"${layout(resource).columnsTable}"`) : nothing;
  };
  const number = async (text: string, ...values: Bindable[]): Promise<number> => {
    const [row] = await rows(text, values);
    return Number(row?.n ?? 0);
  };
  const keys = async (text: string, ...values: Bindable[]): Promise<string[]> =>
    (await rows(text, values)).map((row) => String(row.key));

  return {
    commit,
    sources: () => keys('SELECT DISTINCT source AS key FROM plat_ledger_state ORDER BY source'),
    async state(source) {
      const found = await rows('SELECT name, value FROM plat_ledger_state WHERE source = $1', [source]);
      return Object.fromEntries(found.map((row) => [String(row.name), storedState(row)]));
    },
    missing: (source, resource, wanted) =>
      ask<readonly string[]>(resource, wanted, (_, table) =>
        keys(
          `SELECT j.key FROM unnest($1::text[]) WITH ORDINALITY j(key, place) WHERE NOT EXISTS
           (SELECT 1 FROM ${table} r WHERE r._key = j.key AND r._source = $2) ORDER BY j.place`,
          [...wanted],
          source,
        ),
      ),
    stamps: (resource, wanted) =>
      ask<ReadonlyMap<string, Readonly<Record<string, string>>>>(
        resource,
        new Map(),
        async (layout, table) => {
          const fields = layout.fields.filter(isStamp);
          const columns = fields.map((field) => `, r."${field.name}"`).join('');
          const text = `SELECT r._key${columns} FROM ${table} r WHERE r._key = ANY($1::text[])`;
          const found = await rows(text, [wanted]);
          return new Map(found.map((row) => [String(row._key), stampsOf(fields, row)]));
        },
      ),
    stored: (source, resource) =>
      ask(resource, 0, (_, table) => number(`SELECT count(*) AS n FROM ${table} WHERE _source = $1`, source)),
    unseen: (source, resource, sweep, after, limit) =>
      ask<readonly string[]>(resource, [], (_, table) =>
        keys(
          `SELECT r._key AS key FROM ${table} r WHERE ${UNSEEN} AND r._key > $4 ORDER BY r._key LIMIT $5`,
          source,
          resource,
          sweep,
          after,
          limit,
        ),
      ),
    marked: (source, resource, sweep, wanted) =>
      keys(
        `SELECT key FROM plat_ledger_seen
         WHERE source = $1 AND resource = $2 AND sweep >= $3 AND key = ANY($4::text[])`,
        source,
        resource,
        sweep,
        [...wanted],
      ),
    unseenCount: (source, resource, sweep) =>
      ask(resource, 0, (_, table) =>
        number(`SELECT count(*) AS n FROM ${table} r WHERE ${UNSEEN}`, source, resource, sweep),
      ),
    forgetSeen: (source, resource, sweep) =>
      locked((session) =>
        session.run(
          `DELETE FROM plat_ledger_seen WHERE source = $1 AND resource = $2 AND key = ANY(ARRAY(
           SELECT key FROM plat_ledger_seen WHERE source = $1 AND resource = $2 AND sweep < $3 LIMIT ${FORGOTTEN_AT_ONCE}))`,
          [source, resource, sweep],
        ),
      ),
    wanted: (source, resource, why, after, limit) =>
      keys(
        `SELECT key FROM plat_ledger_wanted
         WHERE source = $1 AND resource = $2 AND why = $3 AND key > $4 ORDER BY key LIMIT $5`,
        source,
        resource,
        why,
        after,
        limit,
      ),
    wantedCount: (source, resource, why) =>
      number(
        'SELECT count(*) AS n FROM plat_ledger_wanted WHERE source = $1 AND resource = $2 AND why = $3',
        source,
        resource,
        why,
      ),
    storedKeys: (source, resource, after, limit) =>
      ask<readonly string[]>(resource, [], (_, table) =>
        keys(
          `SELECT r._key AS key FROM ${table} r WHERE r._key > $2 AND r._source = $1 ORDER BY r._key LIMIT $3`,
          source,
          after,
          limit,
        ),
      ),
    async quarantined(source) {
      const found = await rows(
        'SELECT * FROM plat_quarantine WHERE $1::text IS NULL OR source = $1 ORDER BY source, resource, key',
        [source ?? null],
      );
      return found.map(quarantinedOf);
    },
    exchange: (source, name, change) =>
      locked(async (session) => {
        const [row] = await session.rows(
          'SELECT value FROM plat_ledger_state WHERE source = $1 AND name = $2',
          [source, name],
        );
        const value = change(row === undefined ? undefined : storedState({ ...row, name }));
        await session.run(STATE, [source, name, JSON.stringify(value)]);
      }),
    lease: (source, lease) => locked((session) => takeLease(session, source, lease)),
    releaseLease: (source, holder) =>
      locked(async (session) => {
        await session.run('DELETE FROM plat_leases WHERE source = $1 AND holder = $2', [source, holder]);
      }),
    async leaseHolder(source) {
      const [row] = await rows('SELECT holder, expires FROM plat_leases WHERE source = $1', [source]);
      return row === undefined ? undefined : { holder: String(row.holder), expires: Number(row.expires) };
    },
  };
}

const UNSEEN = `r._source = $1 AND NOT EXISTS (SELECT 1 FROM plat_ledger_seen s
  WHERE s.source = $1 AND s.resource = $2 AND s.key = r._key AND s.sweep >= $3)`;

function stampsOf(fields: readonly Field[], row: Row): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const field of fields) {
    const value = decode(field, row[field.name]);
    if (typeof value === 'string') texts[field.name] = value;
  }
  return texts;
}

function quarantinedOf(row: Row): Quarantined {
  return {
    source: String(row.source),
    resource: String(row.resource),
    key: String(row.key),
    reason: String(row.reason),
    payload: String(row.payload),
    firstAt: String(row.first_at),
    lastAt: String(row.last_at),
    attempts: Number(row.attempts),
  };
}
