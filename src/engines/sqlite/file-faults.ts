/**
 * Checks the physical structure of a file: pages, tables, indexes and the word index. This module knows nothing of the content of
 * records.
 */
import { DatabaseSync } from 'node:sqlite';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import type { FileFault } from '../../store/check/checks.ts';
import { findModelFaults } from '../../store/check/table-faults.ts';
import type { Connection } from './connection.ts';
import { damageIn } from './errors.ts';
import { registerFunctions } from './functions.ts';
import { applyTables, columnsOf, OWN } from './tables.ts';
import { findWordFaults, rebuildWords } from './word-index.ts';

/** The maximum number of page faults to report; a file with more is lost in any case. */
const MOST = 100;

/** What is wrong. */
export function findFileFaults(connection: Connection, model: StoreModel): FileFault[] {
  const { database } = connection;
  const structure = [...findMissing(database, model), ...wordFaults(connection, model)];
  return [
    ...findPageFaults(connection),
    ...findModelFaults(model, (table) => columnsOf(database, table).keys()),
    ...structure.map((what) => ({ what, kind: 'structure' }) as const),
  ];
}

const FAULTS = `PRAGMA integrity_check(${MOST})`;

/** Faults of an index only, which is recreated from its table. */
const OF_AN_INDEX =
  /^(row \S+ missing from index|wrong # of entries in index|non-unique entry in index|malformed inverted index)/;

/** What the engine reports about its own pages and indexes. */
function findPageFaults({ database }: Connection): FileFault[] {
  const fault = (what: string): FileFault => ({ what, kind: OF_AN_INDEX.test(what) ? 'structure' : 'pages' });
  try {
    const rows = database.prepare(FAULTS).all();
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok').map(fault);
  } catch (error) {
    const reason = damageIn(error);
    if (reason === undefined) throw error;
    return [fault(reason)];
  }
}

const WORDS = 'the index of words';

/** Everything in a schema except views, which are checked with the records that they show; columns with their tables. */
const SCHEMA = `SELECT concat(type, ' ', name) AS what, NULL AS its_table FROM sqlite_schema
  WHERE type <> 'view' AND name NOT LIKE 'sqlite_%'
  UNION ALL SELECT concat('column ', t.name, '.', c.name), concat('table ', t.name)
  FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`;

const schemaOf = (database: DatabaseSync) => database.prepare(SCHEMA).all();

/** Compares tables, columns, indexes and triggers with those of a new store. */
function findMissing(database: DatabaseSync, model: StoreModel): string[] {
  using sound = new DatabaseSync(':memory:');
  registerFunctions(sound);
  makeTables(sound, model);
  const there = new Set<unknown>(schemaOf(database).map(({ what }) => what));
  return schemaOf(sound)
    .filter(({ what, its_table }) => !there.has(what) && (its_table === null || there.has(its_table)))
    .map(({ what }) => `there is no ${what}`);
}

function wordFaults(connection: Connection, model: StoreModel): string[] {
  return storedLayouts(model).flatMap((layout) => {
    try {
      const keys = findWordFaults(connection, layout);
      const [first] = keys;
      if (first === undefined) return [];
      return [`${WORDS} does not have the words of ${keys.length} ${layout.resource.name}, such as ${first}`];
    } catch (error) {
      const reason = damageIn(error);
      if (reason === undefined) throw error;
      return [`${WORDS} of ${layout.resource.name} cannot be read: ${reason}`];
    }
  });
}

/** Recreates everything that is derived from the tables of records; in a write transaction. */
export function mendFileFaults(connection: Connection, model: StoreModel): void {
  const { database } = connection;
  makeTables(database, model);
  database.exec('REINDEX');
  if (wordFaults(connection, model).length === 0) return;
  for (const layout of storedLayouts(model)) rebuildWords(database, layout);
}

/** Creates what the store lacks. */
function makeTables(database: DatabaseSync, model: StoreModel): void {
  database.exec(OWN);
  applyTables(database, model);
}
