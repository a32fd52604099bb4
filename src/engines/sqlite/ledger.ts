import { decode } from '../../compile/column-value.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { isStamp } from '../../records/stamps.ts';
import { storedState } from '../../records/stored-json.ts';
import {
  type Lease,
  LeaseLost,
  type Ledger,
  type LedgerChange,
  type LedgerWriter,
  type Quarantined,
} from '../../store/ledger.ts';
import type { WriteReport } from '../../store/write/report.ts';
import type { Connection } from './connection.ts';

/** Writes the account on a connection that is in a transaction. */
export function sqliteLedgerWriter(connection: Connection): LedgerWriter {
  const run = (text: string, ...values: (string | number)[]): void => {
    connection.prepare(text).run(...values);
  };
  return {
    async sources() {
      const rows = connection.prepare('SELECT DISTINCT source FROM plat_ledger_state').all();
      return new Set(rows.map((row) => String(row.source)));
    },
    async renewLease(source, lease) {
      if (!keepLease(connection, source, lease))
        throw new LeaseLost(`Another process has been at work on ${source}`);
    },
    async apply(source, change, at) {
      for (const [name, value] of Object.entries(change.state ?? {})) {
        if (value === null) run('DELETE FROM plat_ledger_state WHERE source = ? AND name = ?', source, name);
        else
          run(
            'INSERT OR REPLACE INTO plat_ledger_state VALUES (?, ?, ?)',
            source,
            name,
            JSON.stringify(value),
          );
      }
      for (const { resource, keys, sweep } of change.seen ?? []) {
        for (const key of keys) run(SEE, source, resource, key, sweep);
      }
      for (const { resource, keys, why } of change.want ?? []) {
        for (const key of keys)
          run('INSERT OR IGNORE INTO plat_ledger_wanted VALUES (?, ?, ?, ?)', source, resource, why, key);
      }
      for (const { resource, keys, why } of change.got ?? []) {
        for (const key of keys) run(GOT, source, resource, why, key);
      }
      for (const { resource, key, reason, payload } of change.quarantine ?? []) {
        run(QUARANTINE, source, resource, key, reason, payload, at, at);
      }
      for (const { resource, keys } of change.release ?? []) {
        for (const key of keys) run(RELEASE, source, resource, key);
      }
    },
  };
}

function takeLease(connection: Connection, source: string, { holder, now, until }: Lease): boolean {
  const text = `INSERT INTO plat_leases VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET holder = excluded.holder,
    expires = excluded.expires WHERE holder = excluded.holder OR expires <= ? RETURNING holder`;
  return connection.prepare(text).get(source, holder, until, now) !== undefined;
}

/** Renews a lease that nobody else has taken meanwhile, not even one who gave it back since. */
function keepLease(connection: Connection, source: string, { holder, until }: Lease): boolean {
  const text = 'UPDATE plat_leases SET expires = ? WHERE source = ? AND holder = ? RETURNING holder';
  return connection.prepare(text).get(until, source, holder) !== undefined;
}

/** Marks that are deleted under one hold of the write lock. */
const FORGOTTEN_AT_ONCE = 20_000;

const SEE = `INSERT INTO plat_ledger_seen VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET sweep = max(sweep, excluded.sweep)`;
const GOT = 'DELETE FROM plat_ledger_wanted WHERE source = ? AND resource = ? AND why = ? AND key = ?';
const QUARANTINE = `INSERT INTO plat_quarantine VALUES (?, ?, ?, ?, ?, ?, ?, 1)
  ON CONFLICT DO UPDATE SET reason = excluded.reason, payload = excluded.payload, last_at = excluded.last_at,
  attempts = attempts + 1`;
const RELEASE = 'DELETE FROM plat_quarantine WHERE source = ? AND resource = ? AND key = ?';

/** What the account is kept with. */
export interface LedgerParts {
  /** Writes, under the lock. */
  readonly connection: Connection;
  /** Sees what is committed, also while a transaction of this process waits for its end. */
  readonly reading: Connection;
  readonly model: () => Promise<StoreModel>;
  readonly commit: (source: string, change: LedgerChange) => Promise<WriteReport>;
  /** Runs a change under the write lock. */
  readonly locked: <T>(work: () => T) => Promise<T>;
}

export function sqliteLedger({ connection, reading, model, commit, locked }: LedgerParts): Ledger {
  const layoutOf = async (resource: string): Promise<ResourceLayout | undefined> => {
    const { stores, layout } = await model();
    return stores(resource) ? layout(resource) : undefined;
  };
  const number = (text: string, ...values: (string | number)[]): number =>
    Number(reading.prepare(text).get(...values)?.n ?? 0);
  const texts = (text: string, ...values: (string | number)[]): string[] =>
    reading
      .prepare(text)
      .all(...values)
      .map((row) => String(row.key));
  const unseenWhere = `r._source = ? AND NOT EXISTS (SELECT 1 FROM plat_ledger_seen s
    WHERE s.source = ? AND s.resource = ? AND s.key = r._key AND s.sweep >= ?)`;

  return {
    commit,
    async sources() {
      return texts('SELECT DISTINCT source AS key FROM plat_ledger_state ORDER BY source');
    },
    async state(source) {
      const rows = reading.prepare('SELECT name, value FROM plat_ledger_state WHERE source = ?').all(source);
      return Object.fromEntries(rows.map((row) => [String(row.name), storedState(row)]));
    },
    async missing(source, resource, keys) {
      const layout = await layoutOf(resource);
      if (layout === undefined) return keys;
      return texts(
        `SELECT j.value AS key FROM json_each(?) j WHERE NOT EXISTS
         (SELECT 1 FROM "${layout.columnsTable}" r WHERE r._key = j.value AND r._source = ?)`,
        JSON.stringify(keys),
        source,
      );
    },
    async stamps(resource, keys) {
      const layout = await layoutOf(resource);
      if (layout === undefined) return new Map();
      const fields = layout.fields.filter(isStamp);
      const columns = fields.map((field) => `, r."${field.name}"`).join('');
      const rows = reading
        .prepare(
          `SELECT r._key${columns} FROM "${layout.columnsTable}" r WHERE r._key IN (SELECT value FROM json_each(?))`,
        )
        .all(JSON.stringify(keys));
      return new Map(
        rows.map((row) => {
          const stamps = fields.map((field) => [field.name, decode(field, row[field.name])] as const);
          return [
            String(row._key),
            Object.fromEntries(stamps.filter(([, value]) => typeof value === 'string')),
          ];
        }),
      );
    },
    async stored(source, resource) {
      const layout = await layoutOf(resource);
      return layout === undefined
        ? 0
        : number(`SELECT count(*) AS n FROM "${layout.columnsTable}" WHERE _source = ?`, source);
    },
    async unseen(source, resource, sweep, after, limit) {
      const layout = await layoutOf(resource);
      if (layout === undefined) return [];
      const text = `SELECT r._key AS key FROM "${layout.columnsTable}" r WHERE ${unseenWhere} AND r._key > ? ORDER BY r._key LIMIT ?`;
      return texts(text, source, source, resource, sweep, after, limit);
    },
    async marked(source, resource, sweep, keys) {
      const text = `SELECT s.key FROM plat_ledger_seen s WHERE s.source = ? AND s.resource = ? AND s.sweep >= ?
        AND s.key IN (SELECT value FROM json_each(?))`;
      return texts(text, source, resource, sweep, JSON.stringify(keys));
    },
    async unseenCount(source, resource, sweep) {
      const layout = await layoutOf(resource);
      if (layout === undefined) return 0;
      const text = `SELECT count(*) AS n FROM "${layout.columnsTable}" r WHERE ${unseenWhere}`;
      return number(text, source, source, resource, sweep);
    },
    forgetSeen: (source, resource, sweep) =>
      locked(() => {
        const text = `DELETE FROM plat_ledger_seen WHERE (source, resource, key) IN
          (SELECT source, resource, key FROM plat_ledger_seen WHERE source = ? AND resource = ? AND sweep < ? LIMIT ${FORGOTTEN_AT_ONCE})`;
        return Number(connection.prepare(text).run(source, resource, sweep).changes);
      }),
    async wanted(source, resource, why, after, limit) {
      const text = `SELECT key FROM plat_ledger_wanted
        WHERE source = ? AND resource = ? AND why = ? AND key > ? ORDER BY key LIMIT ?`;
      return texts(text, source, resource, why, after, limit);
    },
    async wantedCount(source, resource, why) {
      const text =
        'SELECT count(*) AS n FROM plat_ledger_wanted WHERE source = ? AND resource = ? AND why = ?';
      return number(text, source, resource, why);
    },
    async storedKeys(source, resource, after, limit) {
      const layout = await layoutOf(resource);
      if (layout === undefined) return [];
      const text = `SELECT r._key AS key FROM "${layout.columnsTable}" r WHERE r._key > ? AND r._source = ? ORDER BY r._key LIMIT ?`;
      return texts(text, after, source, limit);
    },
    async quarantined(source) {
      const rows = reading
        .prepare('SELECT * FROM plat_quarantine WHERE ? IS NULL OR source = ? ORDER BY source, resource, key')
        .all(source ?? null, source ?? null);
      return rows.map(
        (row): Quarantined => ({
          source: String(row.source),
          resource: String(row.resource),
          key: String(row.key),
          reason: String(row.reason),
          payload: String(row.payload),
          firstAt: String(row.first_at),
          lastAt: String(row.last_at),
          attempts: Number(row.attempts),
        }),
      );
    },
    exchange: (source, name, change) =>
      locked(() => {
        const row = connection
          .prepare('SELECT value FROM plat_ledger_state WHERE source = ? AND name = ?')
          .get(source, name);
        const value = change(row === undefined ? undefined : storedState({ ...row, name }));
        connection
          .prepare('INSERT OR REPLACE INTO plat_ledger_state VALUES (?, ?, ?)')
          .run(source, name, JSON.stringify(value));
      }),
    lease: (source, lease) => locked(() => takeLease(connection, source, lease)),
    releaseLease: (source, holder) =>
      locked(() => {
        connection.prepare('DELETE FROM plat_leases WHERE source = ? AND holder = ?').run(source, holder);
      }),
    async leaseHolder(source) {
      const row = reading.prepare('SELECT holder, expires FROM plat_leases WHERE source = ?').get(source);
      return row === undefined ? undefined : { holder: String(row.holder), expires: Number(row.expires) };
    },
  };
}
