import type { Cell, StoreDump } from '../../store/dump.ts';
import { makePrivateFile } from '../../store/private-file.ts';
import { begin } from './begin.ts';
import { addColumns } from './columns.ts';
import { connect } from './connection.ts';
import { markStore } from './create.ts';
import { startFile } from './new-file.ts';
import { extendTables, OWN } from './tables.ts';
import { recreateView } from './views.ts';
import { writeAllWords } from './word-index.ts';

/** Rows that are written under one hold of the lock are all: the file is nobody else's yet. */
const PATIENCE = 5000;

/** Writes a store of another engine to a new file, row by row as it is. */
export async function restoreStore(path: string, { model, rows }: StoreDump): Promise<void> {
  makePrivateFile(path);
  const connection = connect({ path, readOnly: false, busyTimeout: PATIENCE, cacheMegabytes: 64 });
  const { database } = connection;
  try {
    startFile(database);
    using transaction = begin(database, 'write');
    database.exec(OWN);
    const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
    for (const layout of layouts) extendTables(database, layout);
    for await (const { table, columns, rows: some } of rows) {
      addColumns(database, table, columns);
      const listed = [...columns.keys()];
      const names = listed.map((name) => `"${name}"`).join(', ');
      const places = listed.map(() => '?').join(', ');
      const insert = connection.prepare(`INSERT INTO "${table}" (${names}) VALUES (${places})`);
      for (const row of some) insert.run(...row.map(storable));
    }
    for (const layout of layouts) {
      recreateView(database, model, layout);
      writeAllWords(database, layout);
    }
    markStore(database);
    transaction.commit();
  } finally {
    connection.close();
  }
}

const storable = (cell: Cell): string | number | null => (typeof cell === 'boolean' ? Number(cell) : cell);
