import { sql } from '../../compile/fragment.ts';
import { fillSearch } from '../../compile/layout/search-table.ts';
import type { StoreModel } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { readMeta, writeMeta } from '../../store/meta.ts';
import {
  deleteRows,
  type RawRow,
  type RawTable,
  type RawTables,
  type RawTarget,
  rawTables,
  rowsOn,
} from '../../store/raw-tables.ts';
import { ChangeLog } from '../../store/rows/change-log.ts';
import { Counters } from '../../store/rows/counters.ts';
import { alignSystems } from '../../store/rows/visibility.ts';
import type { PartitionField } from '../../store/store.ts';
import { type PostgresAddress, postgresAddress } from './connection/address.ts';
import { connectPool } from './connection/connect.ts';
import { translateError } from './connection/errors.ts';
import { readServer } from './connection/server.ts';
import { type ServerSession, withSession } from './connection/session.ts';
import { openingError } from './connection/unreached.ts';
import { readModel } from './meta.ts';
import { mustKnow } from './migrations/layout-version.ts';
import { CURRENT_LAYOUT } from './migrations/steps.ts';
import { makePartitions, readSystems, systemsAtOnce } from './partitions/partitions.ts';
import { addColumns, readColumns } from './tables/columns.ts';
import { makeFunctions, makeSchema } from './tables/create.ts';
import { extendTables, readCatalog, storedLayouts } from './tables/extend.ts';
import { LOCK_CLASS } from './tables/functions.ts';
import { OWN } from './tables/own-tables.ts';
import { recreateView } from './tables/views.ts';
import { copyIn } from './writing/copy-in.ts';
import { writeSessionOn } from './writing/write-session.ts';

/**
 * The tables of the store in a schema; the schema is made where there is none.
 * @param partitions by what large tables are laid apart where they are made
 */
export const postgresTables = (text: string, partitions?: PartitionField): Promise<RawTables> =>
  tablesAt(postgresAddress(text), partitions);

export async function tablesAt(address: PostgresAddress, partitions?: PartitionField): Promise<RawTables> {
  const pool = connectPool(address, { most: 1, pipeline: false });
  const on = <T>(work: (session: ServerSession) => Promise<T>): Promise<T> =>
    withSession(pool, work).catch((error: unknown) => {
      throw translateError(error, address.name, 0);
    });
  const whole = await withSession(pool, isWhole).catch(async (error: unknown) => {
    await pool.end();
    throw openingError(error, address);
  });
  return {
    name: address.name,
    whole,
    read: (work) =>
      on(async (session) => {
        await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        try {
          const model = await readModel(session);
          const columns = await readColumns(session);
          return await work({
            model,
            tables: rawTables(model, (table) => columns.get(table)),
            rows: rowsOn(session),
          });
        } finally {
          await session.run('ROLLBACK').catch(() => undefined); // nothing was written
        }
      }),
    fill: (work) =>
      on(async (session) => {
        await mustBeAlone(session, address);
        try {
          return await work(target(session, address, partitions));
        } finally {
          await session.rows('SELECT pg_advisory_unlock_all()', []).catch(() => undefined); // with the connection, then
        }
      }),
    close: () => pool.end(),
  };
}

function target(
  session: ServerSession,
  { schema, name }: PostgresAddress,
  partitions: PartitionField | undefined,
): RawTarget {
  return {
    rows: rowsOn(session),
    prepare: (model, tables) =>
      inTransaction(session, async () => {
        await makeSchema(session, schema);
        await prepare(session, name, model, tables, partitions);
      }),
    change: async (table, gone, put) => {
      const systems = systemsOf(table, put);
      if (systems.length > 0 && (await readSystems(session)) !== undefined) {
        for (const some of systemsAtOnce(systems)) {
          await inTransaction(session, () => makePartitions(session, some));
        }
      }
      await inTransaction(session, async () => {
        await deleteRows(session, table, gone);
        if (put.length > 0) await copyIn(session, table.name, table.columns, put);
      });
    },
    finish: (model) =>
      inTransaction(session, async () => {
        const { columns } = await readCatalog(session);
        await makeFunctions(session, await readServer(session, name));
        for (const layout of storedLayouts(model)) {
          await recreateView(session, model, layout, columns.get(layout.viewName) ?? []);
        }
        if ((await readSystems(session)) !== undefined) {
          await alignSystems({
            session: writeSessionOn(session),
            model,
            counters: new Counters(session),
            changes: new ChangeLog(session, model, Date.parse((await readMeta(session)).lastStamp)),
            source: null,
          });
        }
        for (const { search, columnsTable } of storedLayouts(model)) {
          if (search === undefined) continue;
          await session.run(`DELETE FROM "${search.table}"`);
          await session.run(fillSearch(search, columnsTable, sql`TRUE`));
        }
        await writeMeta(session, CURRENT_LAYOUT);
      }),
  };
}

/** Two copies into one place would take each other's rows for their own; the lock is the connection's. */
async function mustBeAlone(session: ServerSession, { schema, name }: PostgresAddress): Promise<void> {
  const [row] = await session.rows('SELECT pg_try_advisory_lock($1, hashtext($2)) AS alone', [
    LOCK_CLASS,
    `copy into ${schema}`,
  ]);
  if (row?.alone !== true) throw platError('failed', { reason: `Another copy into ${name} is at work.` });
}

async function isWhole(session: ServerSession): Promise<boolean> {
  const [row] = await session.rows("SELECT to_regclass('plat_meta') IS NOT NULL AS there", []);
  if (row?.there !== true) return false;
  if ((await session.rows("SELECT 1 FROM plat_meta WHERE name = 'layout'")).length === 0) return false;
  const { layout, oldestReader } = await readMeta(session);
  mustKnow(layout, oldestReader);
  return true;
}

async function inTransaction(session: ServerSession, work: () => Promise<void>): Promise<void> {
  await session.run('BEGIN');
  try {
    await work();
    await session.run('COMMIT');
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function prepare(
  session: ServerSession,
  store: string,
  model: StoreModel,
  tables: readonly RawTable[],
  partitions: PartitionField | undefined,
): Promise<void> {
  const before = await readCatalog(session);
  if (!before.columns.has('plat_meta')) {
    if (before.columns.size > 0)
      throw platError('storeNotOurs', { store, reason: 'its schema holds other tables' });
  }
  for (const text of OWN) await session.run(text);
  if (partitions !== undefined && !before.columns.has('plat_meta')) await writeMeta(session, { partitions });
  if (partitions !== undefined && (await readSystems(session)) === undefined) {
    throw platError('usage', { reason: `The copy into ${store} was begun without partitions.` });
  }
  await extendTables(session, before, storedLayouts(model));
  const known = await readColumns(session);
  for (const { name, kinds } of tables) await addColumns(session, name, known.get(name), kinds);
}

/** The originating systems of rows. */
function systemsOf({ columns }: RawTable, rows: readonly RawRow[]): string[] {
  const place = columns.indexOf('_system');
  return rows.flatMap((row) => (typeof row[place] === 'string' ? [row[place]] : []));
}
