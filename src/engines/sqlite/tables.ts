import type { DatabaseSync } from 'node:sqlite';
import { render, sql } from '../../compile/fragment.ts';
import {
  indexedTable,
  type ResourceLayout,
  type SearchTable,
  snakeCase,
} from '../../compile/layout/index.ts';
import { fillSearch } from '../../compile/layout/search-table.ts';
import { resourceTables, type StoredColumn, searchColumns } from '../../compile/layout/tables.ts';
import type { StoreModel } from '../../compile/model.ts';
import { LOGGED } from '../../store/meta.ts';
import { creationOf, OWN_TABLES } from '../../store/own-tables.ts';
import type { Columns } from '../../store/raw-tables.ts';
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
  const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
  for (const layout of layouts) extendTables(database, layout);
  for (const layout of layouts) recreateView(database, model, layout);
}

const declared = ([column, { kind, isNeeded, isReady }]: readonly [string, StoredColumn]): string =>
  `"${column}" ${TYPES[kind]}${isNeeded ? ' NOT NULL' : ''}${isReady ? " DEFAULT ''" : ''}`;

/** The tables of a resource, with the indexes that every profile has. */
function tablesOf(layout: ResourceLayout): string {
  const { columnsTable, textsTable, resource } = layout;
  const isPart = resource.parent !== undefined;
  const primary = isPart ? 'PRIMARY KEY (_parent, _key)' : 'PRIMARY KEY (_key)';
  const tables = [...resourceTables(layout)].map(
    ([table, columns]) =>
      `CREATE TABLE "${table}" (${[...columns].map(declared).join(', ')}, ${primary}) WITHOUT ROWID;`,
  );
  return `
    ${tables.join('\n')}
    CREATE UNIQUE INDEX "${textsTable}_id" ON "${textsTable}" (_id);
    ${isPart ? '' : sourceIndex(columnsTable)}
    ${resource.name === 'Media' ? mediaIndexes(columnsTable) : ''}`;
}

/** A replica's sweeps go over the keys of one source; an authority's records are not in it. */
const sourceIndex = (columns: string): string =>
  `CREATE INDEX "${columns}_source" ON "${columns}" (_source, _key) WHERE _source IS NOT NULL;`;

/**
 * The floor plan interface walks the plans among the media, and asks for those of one listing; a served file is asked
 * for by its path.
 */
const mediaIndexes = (columns: string): string => `
    CREATE INDEX "${columns}_plans" ON "${columns}" (_key, _visible, _system, _id) WHERE _kind = 'plan';
    CREATE INDEX "${columns}_plans_of" ON "${columns}" (_parent, _key) WHERE _kind = 'plan';
    CREATE INDEX "${columns}_file" ON "${columns}" (_file) WHERE _file IS NOT NULL;`;

/**
 * Adds what a newer profile needs: tables, columns, pieces and indexes. No record is ever rewritten; tables without any
 * are made anew, since the engine reads the whole schema again for each column that is added to one.
 */
export function extendTables(database: DatabaseSync, layout: ResourceLayout): void {
  const { columnsTable } = layout;
  const before = columnsOf(database, columnsTable);
  if (before.size === 0) database.exec(tablesOf(layout));
  else {
    const tables = resourceTables(layout);
    const changes = [...tables].flatMap(([table, columns]) => {
      const there = columnsOf(database, table);
      return [...columns].flatMap((column) => (there.has(column[0]) ? [] : [addition(table, column)]));
    });
    if (changes.length > 1 && isEmpty(database, layout)) {
      for (const table of tables.keys()) database.exec(`DROP TABLE IF EXISTS "${table}"`);
      database.exec(tablesOf(layout));
    } else for (const change of changes) database.exec(change);
  }
  if (layout.search !== undefined) extendSearch(database, layout, layout.search, before);
  extendIndexes(database, layout);
  extendWords(database, layout);
}

const addition = (table: string, column: readonly [string, StoredColumn]): string =>
  `ALTER TABLE "${table}" ADD COLUMN ${declared(column)}`;

/**
 * Gives the search table the columns of its layout. It is made anew unless it only lacks fields of which no record has a
 * value yet.
 * @param before the columns that the records had before the layout
 */
function extendSearch(
  database: DatabaseSync,
  layout: ResourceLayout,
  search: SearchTable,
  before: Columns,
): void {
  const there = columnsOf(database, search.table);
  const columns = searchColumns(search);
  const lacking = [...columns].filter(([column]) => !there.has(column));
  const isNarrow = there.size + lacking.length === columns.size;
  const isMissingValues = lacking.some(([column]) => before.has(column));
  const isExtended = lacking.length < 2 || !isEmpty(database, layout);
  if (there.size > 0 && isNarrow && !isMissingValues && isExtended) {
    for (const column of lacking) database.exec(addition(search.table, column));
    return;
  }
  database.exec(`DROP TABLE IF EXISTS "${search.table}"`);
  database.exec(
    `CREATE TABLE "${search.table}" (${[...columns].map(declared).join(', ')}, PRIMARY KEY (_id))`,
  );
  fillSearchTable(database, layout);
}

/** Writes the search rows of all records, such as after their tables were copied. */
export function fillSearchTable(database: DatabaseSync, { search, columnsTable }: ResourceLayout): void {
  if (search === undefined) return;
  database.exec(`DELETE FROM "${search.table}"`);
  const { text } = render(fillSearch(search, columnsTable, sql`TRUE`), sqliteDialect.placeholder);
  database.exec(text);
}

/**
 * Creates the indexes that searches use, and drops those that an earlier layout or fewer fields in use had in their place. A
 * search table is in the order of the numbers, so its indexes have the key behind the fields, which a table of columns adds to
 * its own.
 */
function extendIndexes(database: DatabaseSync, layout: ResourceLayout): void {
  const { search, columnsTable, indexes } = layout;
  const table = indexedTable(layout);
  const wanted = new Map([
    [`${table}_walk`, ['_key', '_visible', '_system', ...(search === undefined ? ['_id'] : [])]],
    ...indexes.map(({ fields, covered, suffix }): [string, string[]] => [
      `${table}_by_${fields.map(snakeCase).join('_')}${suffix}`,
      [...fields, ...(search === undefined ? [] : ['_key', ...covered])],
    ]),
  ]);
  const isFieldIndex = (name: string): boolean =>
    [columnsTable, table].some((each) => name.startsWith(`${each}_by_`));
  const surplus = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name IN (?, ?) AND sql IS NOT NULL")
    .all(columnsTable, table)
    .map(({ name }) => String(name))
    .filter((name) => name === `${columnsTable}_walk` || isFieldIndex(name))
    .filter((name) => !wanted.has(name));
  for (const name of surplus) database.exec(`DROP INDEX "${name}"`);
  for (const [name, columns] of wanted) {
    const list = columns.map((column) => `"${column}"`).join(', ');
    database.exec(`CREATE INDEX IF NOT EXISTS "${name}" ON "${table}" (${list})`);
  }
}

function isEmpty(database: DatabaseSync, { columnsTable, textsTable }: ResourceLayout): boolean {
  const row = database
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM "${columnsTable}") OR EXISTS (SELECT 1 FROM "${textsTable}") AS found`,
    )
    .get();
  return row?.found === 0;
}
