/** Creates and changes the tables, indexes and views of a SQLite store. */
import type { DatabaseSync } from 'node:sqlite';
import { kindOfType } from '../../compile/column-value.ts';
import { render, sql } from '../../compile/fragment.ts';
import {
  PUBLISHED_RESOURCES,
  type ResourceLayout,
  snakeCase,
  viewSelection,
} from '../../compile/layout/index.ts';
import { insertSearchRows } from '../../compile/layout/search-table.ts';
import {
  declaredColumn,
  outdatedIndexes,
  type StoredColumn,
  type StoredIndex,
  type StoredKind,
  type StoredTable,
  storedTables,
} from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import type { ViewState } from '../../store/check/table-faults.ts';
import type { Columns } from '../../store/copy/copy-store.ts';
import { LOGGED_CHANGES } from '../../store/state/meta.ts';
import { createTableStatement, OWN_TABLES } from '../../store/state/own-tables.ts';
import { sqliteDialect } from './dialect.ts';
import { ensureWordIndex } from './word-index.ts';

/** Numbers and booleans are stored as numbers (BOOLEAN has NUMERIC affinity in SQLite); everything else is text. */
export const TYPES = {
  text: 'TEXT',
  number: 'NUMERIC',
  boolean: 'BOOLEAN',
  count: 'INTEGER',
  id: 'INTEGER',
} as const satisfies Readonly<Record<StoredKind, string>>;

/** The columns of a table; none if it does not exist. */
export function columnsOf(database: DatabaseSync, table: string): Columns {
  const rows = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(table);
  return new Map(rows.map(({ name, type }) => [String(name), kindOfType(String(type))]));
}

const REFUSAL =
  "SELECT RAISE(ABORT, 'a newer plat has migrated the store: end this process, and use the newer one');";

/**
 * Refuses the transactions of a version of plat from before layout 3 that still has the file open: it would not update the search
 * tables and the sequence of changes. (Every transaction that changes records or settings counts itself.) Entries in the form of
 * layout 3, which lack a kind, are also refused, before SQLite reports them as incomplete, which would look like damage.
 */
const REFUSE_OLDER = `CREATE TRIGGER IF NOT EXISTS plat_older_writers BEFORE UPDATE ON plat_meta
  WHEN new.name = 'changes' AND new.value IS NOT (SELECT value FROM plat_meta WHERE name = '${LOGGED_CHANGES}')
  BEGIN ${REFUSAL} END;
  CREATE TRIGGER IF NOT EXISTS plat_older_entries BEFORE INSERT ON plat_changes WHEN new.kind IS NULL
  BEGIN ${REFUSAL} END;`;

/** plat's own tables. */
export const OWN_TABLE_STATEMENTS = [
  ...OWN_TABLES.map((table) => `${createTableStatement(table)} WITHOUT ROWID;`),
  REFUSE_OLDER,
].join('\n');

/** Creates all tables and views, or adds what is missing. */
export function applyTables(database: DatabaseSync, model: StoreModel): void {
  database.exec(OWN_TABLE_STATEMENTS);
  const layouts = storedLayouts(model);
  for (const layout of layouts) extendTables(database, layout);
  for (const layout of layouts) recreateView(database, model, layout);
}

const tablesOf = (layout: ResourceLayout): StoredTable[] =>
  storedTables(
    layout,
    (table, { fields, suffix }) => `${table}_by_${fields.map(snakeCase).join('_')}${suffix}`,
  );

const isSearch = ({ layout, name }: StoredTable): boolean => name === layout.search?.table;

const declared = ([column, form]: readonly [string, StoredColumn]): string =>
  declaredColumn(TYPES, column, form);

/**
 * Whether new rows come last. An import brings entries of Lookup into use whose keys are scattered over the table, so a commit
 * would write most of its pages in key order. Earlier versions of plat use key order; the columns and indexes are the same, so they
 * can use, check and back up either form.
 */
const isRowidTable = (table: StoredTable): boolean => isSearch(table) || isPublished(table);

const isPublished = ({ layout }: StoredTable): boolean => PUBLISHED_RESOURCES.has(layout.resource.name);

/** A table is ordered by its row ids, which in a search table are the ids of the records, or by key. */
function makeTableStatement(table: StoredTable): string {
  const columns = [...table.columns].map(declared).join(', ');
  const order = isRowidTable(table) ? '' : ' WITHOUT ROWID';
  return `CREATE TABLE "${table.name}" (${columns}, PRIMARY KEY (${table.key.join(', ')}))${order}`;
}

/**
 * Adds what a newer profile needs: tables, columns, parts of texts and indexes. Records are never rewritten. An empty table is
 * recreated, because SQLite parses the whole schema again for each added column; a search table is recreated unless it lacks only
 * fields without values.
 */
function extendTables(database: DatabaseSync, layout: ResourceLayout): void {
  const { search } = layout;
  const before = columnsOf(database, layout.columnsTable);
  const tables = tablesOf(layout);
  for (const table of tables) {
    const { name, columns } = table;
    const existing = columnsOf(database, name);
    const lacking = [...columns].filter(([column]) => !existing.has(column));
    const mustRecreate =
      isSearch(table) &&
      (existing.size + lacking.length > columns.size || lacking.some(([column]) => before.has(column)));
    if (existing.size > 0 && !mustRecreate && (lacking.length < 2 || !isEmpty(database, name))) {
      for (const column of lacking) database.exec(`ALTER TABLE "${name}" ADD COLUMN ${declared(column)}`);
      continue;
    }
    database.exec(`DROP TABLE IF EXISTS "${name}"; ${makeTableStatement(table)}`);
    if (search !== undefined && isSearch(table)) {
      const filling = insertSearchRows(search, layout.columnsTable, sql`TRUE`);
      database.exec(render(filling, sqliteDialect.placeholder).text);
    }
  }
  // Creates the indexes that searches use, and drops those that they replace.
  const wanted = new Map(tables.flatMap(indexesOf));
  const found = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'").all();
  const names = found.map(({ name }) => String(name));
  for (const name of outdatedIndexes(layout, names, wanted)) database.exec(`DROP INDEX "${name}"`);
  for (const text of wanted.values()) database.exec(text);
  ensureWordIndex(database, layout);
}

const isEmpty = (database: DatabaseSync, table: string): boolean =>
  database.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get() === undefined;

/**
 * The indexes of a table, with the statements that create them. Covered fields become further columns of an index. A table in key
 * order needs no index in that order, unless the table itself would be scanned. Entries of Lookup have only the index of their
 * keys, since others would receive new rows in many places (see `isRowidTable`). Their index for walks exists without rows, since
 * earlier versions of plat report a store without it as damaged.
 */
function indexesOf(stored: StoredTable): [string, string][] {
  const { layout, name: table, key, indexes } = stored;
  const { search } = layout;
  const isByKey = ({ columns, where }: StoredIndex): boolean =>
    where === undefined && columns.join() === key.join();
  return indexes
    .filter((index) => !isByKey(index) || (index.covered.length > 0 && search === undefined))
    .map((index) => {
      const { name, columns, covered, isOfFields, isUnique } = index;
      const keys = isOfFields && isSearch(stored) ? ['_key'] : [];
      const others = covered.filter((column) => !key.includes(column));
      const list = [...columns, ...keys, ...others].map((column) => `"${column}"`).join(', ');
      const unique = isUnique && covered.length === 0 ? 'UNIQUE ' : '';
      const where = isByKey(index) && isPublished(stored) ? '_id IS NULL' : index.where;
      const rows = where === undefined ? '' : ` WHERE ${where}`;
      return [name, `CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON "${table}" (${list})${rows}`];
    });
}

/**
 * Creates the view for users (docs/sql-views.md) if it is missing or differs: each change of the schema makes SQLite parse all of
 * it again. Timestamps are in UTC, in the form of SQLite's date functions; multi-valued fields are JSON lists.
 */
export function recreateView(database: DatabaseSync, model: StoreModel, layout: ResourceLayout): void {
  if (viewState(database, model, layout) === 'intact') return;
  database.exec(`DROP VIEW IF EXISTS "${layout.viewName}"`);
  database.exec(createViewStatement(model, layout));
}

const createViewStatement = (model: StoreModel, layout: ResourceLayout): string =>
  `CREATE VIEW "${layout.viewName}" AS ${viewSelection(model, layout)}`;

/** Whether the view has the expected definition. SQLite stores the statement that created it unchanged. */
export function viewState(database: DatabaseSync, model: StoreModel, layout: ResourceLayout): ViewState {
  const found = database
    .prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?")
    .get(layout.viewName);
  if (found === undefined) return 'absent';
  return found.sql === createViewStatement(model, layout) ? 'intact' : 'different';
}
