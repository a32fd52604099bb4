import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bind, sql } from '../../../compile/fragment.ts';
import type { StoreModel } from '../../../compile/model.ts';
import { platError, usageError } from '../../../errors/index.ts';
import type { StoreSettings } from '../../../records/settings.ts';
import type { EngineOptions } from '../../../store/engine.ts';
import { inTransaction } from '../../../store/session.ts';
import { LAYOUT_VERSION, mustBeReadable, readMeta, writeMeta } from '../../../store/state/meta.ts';
import { initializeStore, mustBeStore, type StorePresence } from '../../../store/state/new-store.ts';
import { createTableStatement, keyIndexesOf, OWN_TABLES } from '../../../store/state/own-tables.ts';
import type { PartitionField } from '../../../store/store.ts';
import { newEpoch } from '../../../store/time/epoch.ts';
import { PROMISE_INTERVAL, PROMISE_VALIDITY } from '../../../store/write/commit-timestamps.ts';
import type { PostgresAddress } from '../connection/address.ts';
import type { StorePool } from '../connection/connect.ts';
import { type ServerSession, withSession } from '../connection/session.ts';
import { TEXT } from '../dialect.ts';
import { CURRENT_LAYOUT, migrateStore } from '../migrations/migrate.ts';
import { SHARED_KEYS } from '../shared.ts';
import { LOCK_CLASS, underLock } from '../writing/lock.ts';
import { SERVER_CLOCK, type ServerClock } from '../writing/server-clock.ts';
import { type ServerWriteSession, writeSessionOn } from '../writing/writer.ts';
import { applyTables, readCatalog } from './tables.ts';

/** The requested properties of a store. */
interface StoreOptions extends Pick<EngineOptions, 'create' | 'onCreate'> {
  /** Absent: a new store has no partitions, and an existing one keeps its own. */
  readonly partitions?: PartitionField | undefined;
}

/**
 * What has to be created, migrated or replaced before a store can be used; undefined if nothing has to. Its statements read little
 * and wait for no writer.
 * @throws PlatError if it is a store that this plat does not know, or cannot use on this server or as requested
 */
export async function requiredPreparation(
  session: ServerSession,
  address: PostgresAddress,
  options: StoreOptions,
): Promise<'store' | 'layout' | 'functions' | undefined> {
  const unicode = await readUnicode(session, address.name);
  if (!(await storeExists(session, address))) return 'store';
  const { layout, partitions, functions } = await readMeta(session);
  if (layout < LAYOUT_VERSION) return 'layout';
  // The partitioning of existing tables cannot change.
  if (options.partitions !== undefined && partitions === undefined) {
    const reason = `${address.name} was created without partitions. Use "plat copy" into another schema to create it with them.`;
    throw usageError(reason);
  }
  // The functions of a newer version are compatible.
  return layout > LAYOUT_VERSION || functions === functionsVersion(unicode) ? undefined : 'functions';
}

/**
 * Finds or creates the store, and updates its tables and the functions of plat. Processes that do so at the same time wait for each
 * other, so that everything is done once.
 * @throws PlatError if there is no store and none may be created, or if this plat does not know it
 */
export async function prepareStore(
  pool: StorePool,
  address: PostgresAddress,
  options: StoreOptions,
  clock: ServerClock,
): Promise<void> {
  const { create, partitions, onCreate } = options;
  const preparation = (session: ServerSession) => requiredPreparation(session, address, options);
  for (;;) {
    switch (await withSession(pool, preparation)) {
      case undefined:
        return;
      case 'store':
        if (create === undefined) throw platError('storeMissing', { store: address.name });
        await withSession(pool, (session) => makeStore(session, address, create, partitions, clock));
        onCreate?.([]);
        break;
      case 'layout':
        await migrateStore(pool);
        break;
      case 'functions':
        await underLock(pool, async (session) => {
          if ((await preparation(session)) === 'functions') await makeFunctions(session, address.name);
        });
    }
  }
}

/** Creates the tables, unless another process was faster. */
const makeStore = (
  session: ServerSession,
  address: PostgresAddress,
  settings: StoreSettings,
  partitions: PartitionField | undefined,
  clock: ServerClock,
): Promise<void> =>
  inTransaction(
    session,
    async () => {
      if (await storeExists(session, address)) return;
      const epoch = newEpoch();
      const [row] = await session.rows(`SELECT ${SERVER_CLOCK} AS clock`);
      clock.recordReading(Number(row?.clock), epoch);
      await makeSchema(session, address.schema);
      for (const text of OWN_TABLE_STATEMENTS) await session.run(text);
      const begun = { settings, epoch, now: clock.now(), ofEngine: { ...CURRENT_LAYOUT, partitions } };
      await initializeStore(writeSessionOn(session), begun, async (begin, model) => {
        await makeFunctions(begin, address.name);
        await applyTables(begin, model);
      });
    },
    `BEGIN; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext('${address.schema}'))`,
  );

/** Whether there is a store. @throws PlatError `storeNotOurs`, LayoutTooNew */
const storeExists = async (session: ServerSession, address: PostgresAddress): Promise<boolean> =>
  mustBeStore(address.name, await inspect(session, address), true) === 'store';

/** Detects what the schema contains. @throws PlatError `storeNotOurs` if it has other tables; LayoutTooNew */
export async function inspect(session: ServerSession, address: PostgresAddress): Promise<StorePresence> {
  const { schema, name } = address;
  const [row] = await session.rows(
    `SELECT to_regclass($1) IS NOT NULL AS store, (SELECT count(*) FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'v', 'p')) AS tables`,
    [`${schema}.plat_meta`, schema],
  );
  if (row?.store === true) {
    const marked = await session.rows("SELECT 1 FROM plat_meta WHERE name = 'layout'");
    if (marked.length === 0) return 'incomplete';
    mustBeReadable(await readMeta(session));
    return 'store';
  }
  const reason = `its schema ${schema} contains other tables`;
  if (Number(row?.tables) > 0) throw platError('storeNotOurs', { store: name, reason });
  return 'nothing';
}

/** Earlier versions cannot compress individual columns, nor define functions by an expression. */
const OLDEST = 150_000;

/** Collations for all of Unicode: from ICU, or built in (PostgreSQL 18). */
const COLLATIONS = ['und-x-icu', 'pg_unicode_fast'];

/**
 * The server's collation with Unicode's rules for upper and lower case.
 * @throws PlatError `storeNotOurs` if the server cannot have a store
 */
async function readUnicode(session: ServerSession, store: string): Promise<string> {
  const [row] = await session.rows(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding,
     (SELECT collname FROM pg_collation WHERE collname = ANY($1::text[]) AND collencoding IN (-1, 6)
      ORDER BY array_position($1::text[], collname::text) LIMIT 1) AS unicode`,
    [COLLATIONS],
  );
  const refuse = (reason: string) => platError('storeNotOurs', { store, reason });
  const version = Number(row?.version);
  if (version < OLDEST) throw refuse('its server is older than PostgreSQL 15');
  if (row?.encoding !== 'UTF8') throw refuse(`its database has the encoding ${row?.encoding}, not UTF8`);
  if (typeof row.unicode !== 'string') throw refuse('its server has no collation of Unicode (ICU)');
  return row.unicode;
}

/** plat's own tables, including that of partitions, which only this engine has. */
const TABLES = [
  ...OWN_TABLES,
  {
    name: 'plat_partitions',
    columns: 'system TEXT NOT NULL, number INTEGER NOT NULL',
    key: ['system'],
    unique: ['number'],
  },
];

export const OWN_TABLE_STATEMENTS = TABLES.map((table) =>
  createTableStatement(table).replaceAll(' TEXT', ` ${TEXT}`),
);

/** The indexes of all tables that contain no records. */
export const OWN_INDEXES: ReadonlyMap<string, string> = new Map(
  [...TABLES, ...SHARED_KEYS].flatMap(keyIndexesOf),
);

/** A text with several statements, from a file of the engine. @param values what takes the place of names in double braces */
const statementsIn = (file: string, values: Readonly<Record<string, string | number>> = {}): string =>
  readFileSync(new URL(`../sql/${file}`, import.meta.url), 'utf8').replaceAll(/\{\{(\w+)\}\}/g, (_, name) =>
    String(values[name]),
  );

const sharedTables = (): string => statementsIn('shared.sql');

/** Everything that is recreated when its text has changed. */
const recreatedText = (unicode: string): string =>
  statementsIn('functions.sql', {
    ...{ unicode, lock: LOCK_CLASS, promiseInterval: PROMISE_INTERVAL, promiseValidity: PROMISE_VALIDITY },
    // The milliseconds after which a reader that encounters a writer records its request again.
    requestInterval: PROMISE_INTERVAL / 2,
  }) + sharedTables();

const functionsVersion = (unicode: string): string =>
  hash('sha256', recreatedText(unicode), 'hex').slice(0, 16);

/** Creates functions, and everything else that is recreated when its text has changed. */
export async function makeFunctions(session: ServerSession, store: string): Promise<void> {
  const unicode = await readUnicode(session, store);
  await session.run(recreatedText(unicode));
  await writeMeta(session, { functions: functionsVersion(unicode) });
}

/** Creates what is missing: tables, indexes, views and functions. */
export async function completeStore(
  session: ServerWriteSession,
  store: string,
  model: StoreModel,
): Promise<void> {
  for (const text of [...OWN_TABLE_STATEMENTS, sharedTables()]) await session.run(text);
  const catalog = await readCatalog(session);
  for (const [index, creation] of OWN_INDEXES) if (!catalog.has(index)) await session.run(creation);
  await makeFunctions(session, store);
  await applyTables(session, model);
}

/** A database role may own a schema without the right to create one; even `IF NOT EXISTS` would then be rejected. */
export async function makeSchema(session: ServerSession, schema: string): Promise<void> {
  const found = await session.rows(sql`SELECT 1 FROM pg_namespace WHERE nspname = ${bind(schema)}`);
  if (found.length === 0) await session.run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
}
