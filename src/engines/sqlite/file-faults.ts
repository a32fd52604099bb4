/** Checks the physical structure of a file: pages, indexes, the word index. It knows nothing of records' content. */
import { DatabaseSync } from 'node:sqlite';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import type { Structure } from '../../store/check/check-store.ts';
import type { FileFault } from '../../store/check/checks.ts';
import { findWordFaults } from '../../store/check/word-faults.ts';
import { type Connection, registerFunctions } from './connection.ts';
import { damageIn } from './errors.ts';
import { applyTables, columnsOf, viewState } from './tables.ts';
import { rebuildWordIndex, wordSourceOf } from './word-index.ts';

/** The maximum number of page faults to report; a file with more is lost in any case. */
const MOST = 100;

export const structureOf = (connection: Connection): Structure => ({
  viewState: async (model, layout) => viewState(connection.database, model, layout),
  columns: async () => (table) => columnsOf(connection.database, table),
  fileFaults: async (model) => findFileFaults(connection, model),
});

function findFileFaults(connection: Connection, model: StoreModel): FileFault[] {
  const lacking = [...findMissing(connection.database, model), ...wordFaults(connection, model)];
  const kindOf = (what: string) => (what.startsWith('there is no table') ? 'tables' : 'structure');
  return [...findPageFaults(connection), ...lacking.map((what) => ({ what, kind: kindOf(what) }) as const)];
}

/** Faults of an index only, which is recreated from its table. */
const OF_AN_INDEX =
  /^(row \S+ missing from index|wrong # of entries in index|non-unique entry in index|malformed inverted index)/;

/** The faults that SQLite finds in its own pages and indexes. */
function findPageFaults({ database }: Connection): FileFault[] {
  const fault = (what: string): FileFault => ({ what, kind: OF_AN_INDEX.test(what) ? 'structure' : 'pages' });
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${MOST})`).all();
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok').map(fault);
  } catch (error) {
    const reason = damageIn(error);
    if (reason === undefined) throw error;
    return [fault(reason)];
  }
}

/** Indexes, triggers and the tables of the word index; all others are tables of every engine. */
const SCHEMA = `SELECT concat(type, ' ', name) AS what FROM sqlite_schema
  WHERE (type IN ('index', 'trigger') OR type = 'table' AND name LIKE '%_words%') AND name NOT LIKE 'sqlite_%'`;

function schemaOf(database: DatabaseSync): Set<string> {
  const found = database.prepare(SCHEMA).all();
  return new Set(found.map(({ what }) => `there is no ${String(what)}`));
}

function findMissing(database: DatabaseSync, model: StoreModel): Set<string> {
  using reference = new DatabaseSync(':memory:');
  registerFunctions(reference);
  applyTables(reference, model);
  return schemaOf(reference).difference(schemaOf(database));
}

const wordFaults = (connection: Connection, model: StoreModel): string[] =>
  storedLayouts(model).flatMap((layout) => {
    try {
      const words = wordSourceOf(connection, layout);
      return words === undefined ? [] : findWordFaults(words);
    } catch (error) {
      const reason = damageIn(error);
      if (reason === undefined) throw error;
      return [`the index of words of ${layout.resource.name} cannot be read: ${reason}`];
    }
  });

/** Recreates everything that is derived from the tables of records; in a write transaction. */
export function repairFileFaults(connection: Connection, model: StoreModel): void {
  const { database } = connection;
  applyTables(database, model);
  database.exec('REINDEX');
  if (wordFaults(connection, model).length === 0) return;
  for (const layout of storedLayouts(model)) rebuildWordIndex(database, layout);
}
