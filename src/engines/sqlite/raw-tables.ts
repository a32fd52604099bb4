import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreModel } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { systemClock } from '../../store/clock.ts';
import {
  type Cell,
  OWN_META,
  type RawRow,
  type RawTable,
  type RawTables,
  tableKeys,
} from '../../store/raw-tables.ts';
import { watched } from '../../store/watched.ts';
import { begin } from './begin.ts';
import { addColumns, columnsOf } from './columns.ts';
import { type Connection, connect } from './connection.ts';
import { isMarked, LAYOUT_VERSION, layoutOf, markStore } from './create.ts';
import { translateError } from './errors.ts';
import { readModel } from './meta.ts';
import { isBlank, makeFile, mustLieAlone, mustNotBeInUse } from './new-file.ts';
import { extendTables, OWN } from './tables.ts';
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
  const tables: RawTables = {
    name: path,
    whole,
    read: async (work) => {
      using _ = begin(database, 'read');
      const model = readModel(database);
      return await work({
        model,
        tables: tablesOf(database, model),
        rows: async (table, after, limit) => told(() => readRows(connection, table, after, limit)),
      });
    },
    fill: (work) => {
      // Two copies into one file would take each other's rows for their own.
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      return work({
        rows: async (table, after, limit) => told(() => readRows(connection, table, after, limit)),
        prepare: async (model, tables) => told(() => prepare(database, path, model, tables)),
        change: async (table, gone, put) => told(() => change(connection, table, gone, put)),
        finish: async (model) => told(() => finish(database, model)),
      });
    },
    close: async () => connection.close(),
  };
  return watched(tables, (error) => translateError(error, path, 0));
}

function tablesOf(database: DatabaseSync, model: StoreModel): RawTable[] {
  return [...tableKeys(model)].map(([name, key]) => {
    const kinds = columnsOf(database, name);
    return { name, key, columns: [...new Set([...key, ...kinds.keys()])], kinds };
  });
}

function finish(database: DatabaseSync, model: StoreModel): void {
  for (const layout of layoutsOf(model)) {
    recreateView(database, model, layout);
    writeAllWords(database, layout);
  }
  markStore(database);
}

const layoutsOf = (model: StoreModel) =>
  [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
const places = (names: readonly string[]): string => names.map(() => '?').join(', ');

/** What an engine alone says of its tables is no part of a copy. */
const kept = ({ name }: RawTable): string =>
  name === 'plat_meta' ? `name NOT IN (${OWN_META.map((each) => `'${each}'`).join(', ')})` : 'TRUE';

function readRows(
  connection: Connection,
  table: RawTable,
  after: RawRow | undefined,
  limit: number,
): RawRow[] {
  const { name, key, columns } = table;
  const beyond = after === undefined ? 'TRUE' : `(${listed(key)}) > (${places(key)})`;
  const text = `SELECT ${listed(columns)} FROM "${name}" WHERE ${kept(table)} AND ${beyond} ORDER BY ${listed(key)} LIMIT ?`;
  const rows = connection.prepare(text).all(...(after ?? []), limit);
  return rows.map((row) => columns.map((column) => cellOf(row[column])));
}

const cellOf = (raw: unknown): Cell => (typeof raw === 'string' || typeof raw === 'number' ? raw : null);

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

function change(
  { database, prepare: statement }: Connection,
  { name, key, columns }: RawTable,
  gone: readonly RawRow[],
  put: readonly RawRow[],
): void {
  using transaction = begin(database, 'write');
  const remove = statement(`DELETE FROM "${name}" WHERE (${listed(key)}) = (${places(key)})`);
  for (const row of gone) remove.run(...row);
  const insert = statement(`INSERT INTO "${name}" (${listed(columns)}) VALUES (${places(columns)})`);
  for (const row of put) insert.run(...row);
  transaction.commit();
}
