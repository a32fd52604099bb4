import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { bind, sql } from '../../../compile/fragment.ts';
import { platError } from '../../../errors/index.ts';
import { checkTimeZone } from '../../../records/local-time.ts';
import type { StoreSettings } from '../../../records/settings.ts';
import { newEpoch } from '../../../store/epoch.ts';
import { LAYOUT_VERSION } from '../../../store/layout-version.ts';
import { mustBeReadable, readMeta, writeMeta } from '../../../store/meta.ts';
import { beginStore } from '../../../store/new-store.ts';
import type { PartitionField } from '../../../store/store.ts';
import { NOTHING_HELD } from '../../../store/store-clock.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { readServer, type Server } from '../connection/server.ts';
import { inTransaction, type ServerSession, withSession } from '../connection/session.ts';
import { migrateStore } from '../migrations/migrate.ts';
import { CURRENT_LAYOUT } from '../migrations/steps.ts';
import { underLock } from '../writing/lock.ts';
import { SERVER_CLOCK, type StampClock } from '../writing/stamp-clock.ts';
import { writeSessionOn } from '../writing/write-session.ts';
import { applyTables } from './extend.ts';
import { functionTexts, LOCK_CLASS } from './functions.ts';
import { OWN } from './own-tables.ts';
import { SHARED_TABLES } from './shared-tables.ts';

/** What lies in a schema. */
type Found = 'nothing' | 'store';

/** What a store is made as, and should be. */
interface StoreWish {
  /** Absent: there must be one. */
  readonly create?: StoreSettings | undefined;
  /** Absent: a new one has none, and one that is there has what it was made with. */
  readonly partitions?: PartitionField | undefined;
  /** Called after the tables of a new store were created. */
  readonly onCreate?: (() => void) | undefined;
}

/**
 * Finds or creates the store, and updates its tables and the functions of plat. Processes that do so at the same time
 * wait for each other, so that everything is done once.
 * @throws PlatError if there is no store and none is to be created, or one that this plat does not know
 */
export async function prepareStore(
  pool: Pool,
  address: PostgresAddress,
  { create, partitions, onCreate }: StoreWish,
  clock: StampClock,
): Promise<void> {
  const server = await withSession(pool, (session) => readServer(session, address.name));
  const found = await withSession(pool, (session) => inspect(session, address));
  if (found === 'nothing') {
    if (create === undefined) throw platError('storeMissing', { store: address.name });
    await makeStore(pool, address, server, { create, partitions }, clock);
    onCreate?.();
  }
  await migrateStore(pool);
  await withSession(pool, (session) => checkPartitions(session, address.name, partitions));
  if (!(await withSession(pool, (session) => isCurrent(session, server)))) {
    await underLock(pool, async (session) => {
      if (!(await isCurrent(session, server))) await makeFunctions(session, server);
    });
  }
}

/** Makes the tables, unless another process was faster. */
function makeStore(
  pool: Pool,
  address: PostgresAddress,
  server: Server,
  wish: StoreWish & { readonly create: StoreSettings },
  clock: StampClock,
): Promise<void> {
  return withSession(pool, (session) =>
    inTransaction(
      session,
      async () => {
        if ((await inspect(session, address)) === 'store') return;
        await makeTables(session, address, server, wish, clock);
      },
      `BEGIN; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext('${address.schema}'))`,
    ),
  );
}

async function inspect(session: ServerSession, { schema, name }: PostgresAddress): Promise<Found> {
  const [row] = await session.rows(
    `SELECT to_regclass($1) IS NOT NULL AS store, (SELECT count(*) FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r', 'v', 'p')) AS tables`,
    [`${schema}.plat_meta`, schema],
  );
  if (row?.store === true) {
    const marked = await session.rows("SELECT 1 FROM plat_meta WHERE name = 'layout'");
    if (marked.length === 0) {
      throw platError('storeNotOurs', { store: name, reason: 'a copy into it is incomplete' });
    }
    mustBeReadable(await readMeta(session));
    return 'store';
  }
  if (Number(row?.tables) > 0) {
    throw platError('storeNotOurs', { store: name, reason: `its schema ${schema} contains other tables` });
  }
  return 'nothing';
}

/** Tables stay as they were made: what is requested and is not so is not passed over. */
async function checkPartitions(
  session: ServerSession,
  store: string,
  partitions: PartitionField | undefined,
): Promise<void> {
  if (partitions === undefined || (await readMeta(session)).partitions !== undefined) return;
  const reason = `${store} was created without partitions. Use "plat copy" into another schema to create it with them.`;
  throw platError('usage', { reason });
}

/** All that is recreated when its text has changed. */
const renewable = ({ unicode }: Server): readonly string[] => [...functionTexts(unicode), ...SHARED_TABLES];

const functionsVersion = (server: Server): string =>
  hash('sha256', renewable(server).join('\n'), 'hex').slice(0, 16);

/** Whether the functions are of this plat, or of a newer one that lets this one go on. */
async function isCurrent(session: ServerSession, server: Server): Promise<boolean> {
  const { layout, functions } = await readMeta(session);
  return layout > LAYOUT_VERSION || functions === functionsVersion(server);
}

/** Functions, and whatever else is recreated when its text has changed. */
export async function makeFunctions(session: ServerSession, server: Server): Promise<void> {
  for (const text of renewable(server)) await session.run(text);
  await writeMeta(session, { functions: functionsVersion(server) });
}

async function makeTables(
  session: ServerSession,
  { schema }: PostgresAddress,
  server: Server,
  { create: settings, partitions }: StoreWish & { readonly create: StoreSettings },
  clock: StampClock,
): Promise<void> {
  checkTimeZone(settings.timeZone);
  const epoch = newEpoch();
  const [row] = await session.rows(`SELECT ${SERVER_CLOCK} AS clock`);
  clock.note(Number(row?.clock), epoch, NOTHING_HELD);
  await makeSchema(session, schema);
  for (const text of OWN) await session.run(text);
  const begun = { settings, epoch, now: clock.now(), ofEngine: { ...CURRENT_LAYOUT, partitions } };
  await beginStore(writeSessionOn(session), begun, async (begin, model) => {
    await makeFunctions(begin, server);
    await applyTables(begin, model);
  });
}

/** A role may have a schema in a database in which it may make none: then `IF NOT EXISTS` is refused as well. */
export async function makeSchema(session: ServerSession, schema: string): Promise<void> {
  const found = await session.rows(sql`SELECT 1 FROM pg_namespace WHERE nspname = ${bind(schema)}`);
  if (found.length === 0) await session.run(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
}
