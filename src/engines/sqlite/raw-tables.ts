import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreModel } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { systemClock } from '../../store/clock.ts';
import { isBlank, mustLieAlone, mustNotBeInUse } from '../../store/files/beside.ts';
import { readModel } from '../../store/meta.ts';
import {
  deleteRows,
  type RawRow,
  type RawTable,
  type RawTables,
  rawTables,
  rowsOn,
} from '../../store/raw-tables.ts';
import type { Session } from '../../store/session.ts';
import { watched } from '../../store/watched.ts';
import { begin } from './begin.ts';
import { addColumns, columnsOf } from './columns.ts';
import { type Connection, connect } from './connection.ts';
import { isMarked, LAYOUT_VERSION, layoutOf, markStore } from './create.ts';
import { translateError } from './errors.ts';
import { makeFile } from './new-file.ts';
import { sessionOn } from './session.ts';
import { extendTables, fillSearchTable, OWN } from './tables.ts';
import { recreateView } from './views.ts';
import { writeAllWords } from './word-index.ts';

/** Milliseconds to wait for another process: a reader waits for none, and another copy takes much longer. */
const PATIENCE = 2000;

/**
 * The tables of the store in a file.
 * @param create whether a file is made where there is none
 */
export function sqliteTables(path: string, create: boolean): RawTables {
  if (!create && !existsSync(path)) throw platError('storeMissing', { store: path });
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw translateError(error, path, 0);
    }
  };
  told(() => {
    mustNotBeInUse(path);
    if (!create || !isBlank(path)) return;
    mustLieAlone(path);
    makeFile(path, systemClock.now());
  });
  const connection = told(() =>
    connect({ path, readOnly: false, busyTimeout: PATIENCE, cacheMegabytes: 64 }),
  );
  const { database } = connection;
  const whole = told(() => isMarked(database));
  const layout = layoutOf(database);
  if (whole && layout > LAYOUT_VERSION) {
    connection.close();
    throw platError('storeTooNew', { store: path, found: layout, known: LAYOUT_VERSION });
  }
  const session = sessionOn(connection);
  const rows = rowsOn(session);
  const tables: RawTables = {
    name: path,
    whole,
    read: async (work) => {
      using _ = begin(database, 'read');
      const model = await readModel(session);
      return await work({ model, tables: rawTables(model, (table) => columnsOf(database, table)), rows });
    },
    fill: (work) => {
      // Two copies into one file would take each other's rows for their own.
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      return work({
        rows,
        prepare: async (model, wanted) => prepare(database, path, model, wanted),
        change: (table, gone, put) => change(connection, session, table, gone, put),
        finish: async (model) => finish(database, model),
      });
    },
    close: async () => connection.close(),
  };
  return watched(tables, (error) => translateError(error, path, 0));
}

function finish(database: DatabaseSync, model: StoreModel): void {
  for (const layout of layoutsOf(model)) {
    recreateView(database, model, layout);
    fillSearchTable(database, layout);
    writeAllWords(database, layout);
  }
  markStore(database);
}

const layoutsOf = (model: StoreModel) =>
  [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);

function prepare(database: DatabaseSync, path: string, model: StoreModel, tables: readonly RawTable[]): void {
  using transaction = begin(database, 'write');
  if (columnsOf(database, 'plat_meta').size === 0) {
    const others = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n);
    if (others > 0) throw platError('storeNotOurs', { store: path, reason: 'it is another database' });
    database.exec(OWN);
  }
  for (const layout of layoutsOf(model)) extendTables(database, layout);
  for (const { name, kinds } of tables) addColumns(database, name, kinds);
  transaction.commit();
}

async function change(
  { database, prepare: statement }: Connection,
  session: Session,
  table: RawTable,
  gone: readonly RawRow[],
  put: readonly RawRow[],
): Promise<void> {
  using transaction = begin(database, 'write');
  await deleteRows(session, table, gone);
  const names = table.columns.map((column) => `"${column}"`).join(', ');
  const places = table.columns.map(() => '?').join(', ');
  const insert = statement(`INSERT INTO "${table.name}" (${names}) VALUES (${places})`);
  for (const row of put) insert.run(...row);
  transaction.commit();
}
