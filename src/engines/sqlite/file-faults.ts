/**
 * What lies beneath the records of a file: its pages, tables, indexes and the index of words. It knows nothing of what
 * a record should hold.
 */
import { DatabaseSync } from 'node:sqlite';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FileFault } from '../../store/check/checks.ts';
import { findModelFaults } from '../../store/check/table-faults.ts';
import { columnsOf } from './columns.ts';
import type { Connection } from './connection.ts';
import { damageIn } from './errors.ts';
import { registerFunctions } from './functions.ts';
import { extendTables, OWN } from './tables.ts';
import { recreateView } from './views.ts';
import { findWordFaults, rebuildWords } from './word-index.ts';

/** Faults of pages that are told; a file with more is lost in any case. */
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

/** Faults that an index alone has: it is made anew from its table. */
const OF_AN_INDEX =
  /^(row \S+ missing from index|wrong # of entries in index|non-unique entry in index|malformed inverted index)/;

/** What the engine says of its own pages and indexes. */
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

const layoutsOf = (model: StoreModel): ResourceLayout[] =>
  [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);

interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

function schemaOf(database: DatabaseSync): SchemaEntry[] {
  const rows = database
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .all();
  return rows.map(({ type, name, sql }) => ({
    type: String(type),
    name: String(name),
    sql: typeof sql === 'string' ? sql : null,
  }));
}

/** What a store of this model has and this one lacks. */
interface Missing {
  readonly entries: readonly SchemaEntry[];
  /** `table.column` */
  readonly columns: readonly string[];
}

/** Compares the tables, indexes, views and triggers with those of a store that was just made. */
function compareSchema(database: DatabaseSync, model: StoreModel): Missing {
  const sound = new DatabaseSync(':memory:');
  try {
    registerFunctions(sound);
    sound.exec(OWN);
    for (const layout of layoutsOf(model)) {
      extendTables(sound, layout);
      recreateView(sound, model, layout);
    }
    const there = new Set(schemaOf(database).map(({ type, name }) => `${type} ${name}`));
    const entries = schemaOf(sound);
    const isThere = ({ type, name }: SchemaEntry): boolean => there.has(`${type} ${name}`);
    const columns = entries
      .filter((entry) => entry.type === 'table' && isThere(entry))
      .flatMap(({ name }) => {
        const found = columnsOf(database, name);
        const lacking = [...columnsOf(sound, name).keys()].filter((column) => !found.has(column));
        return lacking.map((column) => `${name}.${column}`);
      });
    return { entries: entries.filter((entry) => !isThere(entry)), columns };
  } finally {
    sound.close();
  }
}

function findMissing(database: DatabaseSync, model: StoreModel): string[] {
  const { entries, columns } = compareSchema(database, model);
  return [
    // Views are looked at with the records that they show.
    ...entries.filter(({ type }) => type !== 'view').map(({ type, name }) => `there is no ${type} ${name}`),
    ...columns.map((column) => `there is no column ${column}`),
  ];
}

function wordFaults(connection: Connection, model: StoreModel): string[] {
  return layoutsOf(model).flatMap((layout) => {
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

/** Makes anew what follows from the tables of records; inside a write transaction. */
export function mendFileFaults(connection: Connection, model: StoreModel): void {
  const { database } = connection;
  for (const layout of layoutsOf(model)) {
    extendTables(database, layout);
    recreateView(database, model, layout);
  }
  for (const { type, sql } of compareSchema(database, model).entries) {
    if (type !== 'table' && sql !== null) database.exec(sql);
  }
  database.exec('REINDEX');
  if (wordFaults(connection, model).length === 0) return;
  for (const layout of layoutsOf(model)) rebuildWords(database, layout);
}
