import type { DatabaseSync } from 'node:sqlite';
import { render, sql } from '../../compile/fragment.ts';
import { indexedTable, type ResourceLayout, snakeCase } from '../../compile/layout/index.ts';
import { fillSearch } from '../../compile/layout/search-table.ts';
import {
  declaredColumn,
  replacedIndexes,
  type StoredColumn,
  type StoredIndex,
  type StoredTable,
  storedTables,
} from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import { LOGGED } from '../../store/meta.ts';
import { creationOf, OWN_TABLES } from '../../store/own-tables.ts';
import { columnsOf, TYPES } from './columns.ts';
import { sqliteDialect } from './dialect.ts';
import { recreateView } from './views.ts';
import { extendWords } from './word-index.ts';

const REFUSAL =
  "SELECT RAISE(ABORT, 'a newer plat has migrated the store: end this process, and use the newer one');";

/**
 * Refuses the transactions of a process of plat that has opened the file before layout 3 and would leave the search tables and
 * the sequence of changes behind. Every transaction that changes records or settings counts itself. The entries of layout 3 do not say
 * what happened: they are refused before SQLite finds them incomplete, which would read as damage.
 */
const REFUSE_OLDER = `CREATE TRIGGER IF NOT EXISTS plat_older_writers BEFORE UPDATE ON plat_meta
  WHEN new.name = 'changes' AND new.value IS NOT (SELECT value FROM plat_meta WHERE name = '${LOGGED}')
  BEGIN ${REFUSAL} END;
  CREATE TRIGGER IF NOT EXISTS plat_older_entries BEFORE INSERT ON plat_changes WHEN new.kind IS NULL
  BEGIN ${REFUSAL} END;`;

/** plat's own tables. */
export const OWN = [...OWN_TABLES.map((table) => `${creationOf(table)} WITHOUT ROWID;`), REFUSE_OLDER].join(
  '\n',
);

export function applyTables(database: DatabaseSync, model: StoreModel): void {
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

/** A search table is in the order of the numbers of its records, which are its row ids; all others are in that of their keys. */
function creation(table: StoredTable): string {
  const columns = [...table.columns].map(declared).join(', ');
  const order = isSearch(table) ? '' : ' WITHOUT ROWID';
  return `CREATE TABLE "${table.name}" (${columns}, PRIMARY KEY (${table.key.join(', ')}))${order}`;
}

/**
 * Adds what a newer profile needs: tables, columns, pieces and indexes. No record is ever rewritten; tables without any
 * are made anew, since the engine reads the whole schema again for each column that is added to one. So is a search table,
 * unless it only lacks fields of which no record has a value yet.
 */
export function extendTables(database: DatabaseSync, layout: ResourceLayout): void {
  const before = columnsOf(database, layout.columnsTable);
  const isBare = isEmpty(database, layout);
  const tables = tablesOf(layout);
  for (const table of tables) {
    const { name, columns } = table;
    const there = columnsOf(database, name);
    const lacking = [...columns].filter(([column]) => !there.has(column));
    const isAnother =
      isSearch(table) &&
      (there.size + lacking.length > columns.size || lacking.some(([column]) => before.has(column)));
    if (there.size > 0 && !isAnother && (lacking.length < 2 || !isBare)) {
      for (const column of lacking) database.exec(`ALTER TABLE "${name}" ADD COLUMN ${declared(column)}`);
      continue;
    }
    database.exec(`DROP TABLE IF EXISTS "${name}"; ${creation(table)}`);
    if (isSearch(table)) fillSearchTable(database, layout);
  }
  extendIndexes(database, layout, new Map(tables.flatMap(indexesOf)));
  extendWords(database, layout);
}

const isEmpty = (database: DatabaseSync, { columnsTable, textsTable }: ResourceLayout): boolean =>
  [columnsTable, textsTable].every(
    (table) =>
      columnsOf(database, table).size === 0 ||
      database.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get() === undefined,
  );

/** Writes the search rows of all records into a table that was just made. */
function fillSearchTable(database: DatabaseSync, { search, columnsTable }: ResourceLayout): void {
  if (search === undefined) return;
  const { text } = render(fillSearch(search, columnsTable, sql`TRUE`), sqliteDialect.placeholder);
  database.exec(text);
}

/** Creates the indexes that searches use, and drops those in whose place they are. */
function extendIndexes(
  database: DatabaseSync,
  layout: ResourceLayout,
  wanted: ReadonlyMap<string, string>,
): void {
  const found = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name IN (?, ?) AND sql IS NOT NULL")
    .all(layout.columnsTable, indexedTable(layout))
    .map(({ name }) => String(name));
  for (const name of replacedIndexes(layout, found, wanted)) database.exec(`DROP INDEX "${name}"`);
  for (const text of wanted.values()) database.exec(text);
}

/**
 * The indexes of a table, with the statements that create them. What an index covers is taken for further columns of it. A table
 * in the order of its keys adds them to each index by itself, and needs none in that order, except where the table itself would
 * be walked.
 */
function indexesOf({ layout: { search }, name: table, key, indexes }: StoredTable): [string, string][] {
  const isInOrder = ({ columns, covered, where }: StoredIndex): boolean =>
    where === undefined && columns.join() === key.join() && (covered.length === 0 || search !== undefined);
  return indexes
    .filter((index) => !isInOrder(index))
    .map(({ name, columns, covered, isOfFields, isUnique, where }) => {
      const keys = isOfFields && search !== undefined ? ['_key'] : [];
      const others = covered.filter((column) => !key.includes(column));
      const list = [...columns, ...keys, ...others].map((column) => `"${column}"`).join(', ');
      const unique = isUnique && covered.length === 0 ? 'UNIQUE ' : '';
      const rows = where === undefined ? '' : ` WHERE ${where}`;
      return [name, `CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON "${table}" (${list})${rows}`];
    });
}
