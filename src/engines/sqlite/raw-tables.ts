import { storedLayouts } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { systemClock } from '../../shared/clock.ts';
import { type RawTables, tablesOn } from '../../store/copy/copy-store.ts';
import { isEmptyFile, mustHaveNoLogFiles } from '../../store/files/partial-file.ts';
import { type Connection, connect } from './connection.ts';
import { inspect, isStore, makeFile, markStore } from './create.ts';
import { translateError } from './errors.ts';
import { sessionOn } from './session.ts';
import { applyTables, columnsOf, TYPES } from './tables.ts';
import { begin } from './transaction.ts';
import { rebuildWordIndex } from './word-index.ts';

/** Milliseconds to wait for another process: readers do not wait, and another copy takes much longer. */
const PATIENCE = 2000;

/** The tables of the store in a file. @param create whether to create the file if it does not exist */
export function sqliteTables(path: string, create: boolean): RawTables {
  try {
    const found = inspect(path);
    if (found === 'nothing' && !create) throw platError('storeMissing', { store: path });
    if (create && isEmptyFile(path)) {
      mustHaveNoLogFiles(path);
      makeFile(path, systemClock.now());
    }
    const connection = connect({ path, readOnly: false, busyTimeout: PATIENCE, cacheMegabytes: 64 });
    return tablesIn(path, connection, found === 'older store' || found === 'store');
  } catch (error) {
    throw translateError(error, path, 0);
  }
}

function tablesIn(path: string, connection: Connection, whole: boolean): RawTables {
  const { database } = connection;
  const session = sessionOn(connection);
  return tablesOn({
    name: path,
    whole,
    types: TYPES,
    async use(work, isAlone) {
      // Two copies into the same file would mistake each other's rows for their own.
      if (isAlone) database.exec('PRAGMA locking_mode = EXCLUSIVE');
      return work(session);
    },
    async transaction(_, kind, work) {
      using transaction = begin(database, kind);
      const result = await work();
      transaction.commit();
      return result;
    },
    columns: async () => (table) => columnsOf(database, table),
    isWhole: async () => isStore(database),
    prepare: async (_, model) => applyTables(database, model),
    async insert(_, { name, columns }, rows) {
      const names = columns.map((column) => `"${column}"`).join(', ');
      const places = columns.map(() => '?').join(', ');
      const statement = connection.prepare(`INSERT INTO "${name}" (${names}) VALUES (${places})`);
      for (const row of rows) statement.get(...row);
    },
    async complete(_, model) {
      for (const layout of storedLayouts(model)) rebuildWordIndex(database, layout);
    },
    mark: async () => markStore(database),
    explain: (error) => translateError(error, path, 0),
    close: async () => connection.close(),
  });
}
