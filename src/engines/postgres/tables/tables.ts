/** The tables and views of records on a server: reads which exist, and adds those that are missing. */
import { kindOfType } from '../../../compile/column-value.ts';
import { bind, join, name as quoted, type Sql, sql } from '../../../compile/fragment.ts';
import {
  type ResourceLayout,
  type SearchTable,
  viewColumns,
  viewSelection,
} from '../../../compile/layout/index.ts';
import { insertSearchRows } from '../../../compile/layout/search-table.ts';
import {
  declaredColumn,
  outdatedIndexes,
  type StoredIndex,
  type StoredTable,
  storedTables,
} from '../../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../../compile/model.ts';
import type { Field } from '../../../dictionary/index.ts';
import type { ViewState } from '../../../store/check/table-faults.ts';
import type { Columns, ColumnsOf } from '../../../store/copy/copy-store.ts';
import type { Session } from '../../../store/session.ts';
import type { ServerSession } from '../connection/session.ts';
import { COLUMN_TYPES, isPartitioned } from '../dialect.ts';
import { partitionsOf, partitionTable, readSystems } from '../partitions/partitions.ts';

/** The tables, views and indexes in the schema of a store by name, with their columns in order. */
type Catalog = ReadonlyMap<string, Columns>;

/** @param only the name of the only relation to read */
export async function readCatalog({ rows: read }: Pick<Session, 'rows'>, only?: string): Promise<Catalog> {
  const named = only === undefined ? sql`TRUE` : sql`c.relname = ${bind(only)}`;
  const rows = await read(
    sql`SELECT c.relname AS relation, a.attname AS name, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'i', 'I')
       AND ${named} AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
  );
  const columnsOf = (found: typeof rows): Columns =>
    new Map(found.map(({ name, type }) => [String(name), kindOfType(String(type))]));
  const relations = Map.groupBy(rows, ({ relation }) => String(relation));
  return new Map([...relations].map(([relation, found]) => [relation, columnsOf(found)]));
}

/** The columns of the tables in the schema of a store. */
export async function readColumns(session: Session): Promise<ColumnsOf> {
  const catalog = await readCatalog(session);
  return (table) => catalog.get(table);
}

interface ServerTable extends StoredTable {
  /** The statements that create its indexes, by name. */
  readonly created: ReadonlyMap<string, string>;
  /** Whether it is partitioned by originating system. */
  readonly isPartitioned: boolean;
}

/** @param isStorePartitioned whether the large tables of the store are partitioned by originating system */
function tablesOf(layout: ResourceLayout, isStorePartitioned: boolean): ServerTable[] {
  const partitioned = isStorePartitioned && isPartitioned(layout);
  const tables = storedTables(layout, (table, { fields, suffix }) => indexName(table, fields, suffix));
  return tables.map((table) => {
    const statementOf = (index: StoredIndex) => createIndexStatement(table.name, index, partitioned);
    const created = new Map(table.indexes.map((index) => [index.name, statementOf(index)]));
    return { ...table, created, isPartitioned: partitioned };
  });
}

/**
 * In a partitioned table, a unique index applies to each partition separately. The writer ensures uniqueness over all partitions,
 * since it removes the rows of a key from all of them before it inserts others. Nulls sort lowest, as in every order of plat.
 * Covering indexes also include the key and id of each row, for searches that read no record.
 */
function createIndexStatement(table: string, index: StoredIndex, partitioned: boolean): string {
  const { name, columns, covered, isOfFields, isUnique, where } = index;
  const isApart = isUnique && partitioned;
  const found = [...columns.map((each) => `"${each}"`), ...(isApart ? ['_system'] : [])];
  const located = isOfFields && covered.length > 0 ? ['_key', '_id'] : [];
  const included = [...located, ...covered].filter((each) => !isApart || each !== '_system');
  return [
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX "${name}" ON "${table}"`,
    `(${found.map((each) => (isOfFields ? `${each} NULLS FIRST` : each)).join(', ')})`,
    ...(included.length === 0 ? [] : [`INCLUDE (${included.map((each) => `"${each}"`).join(', ')})`]),
    ...(isApart ? ['NULLS NOT DISTINCT'] : []),
    ...(where === undefined ? [] : [`WHERE ${where}`]),
  ].join(' ');
}

/** Names have at most 63 characters, so words are abbreviated to three letters. */
function indexName(name: string, fields: readonly string[], suffix: string): string {
  const short = (field: string): string => field.replace(/(?<=[A-Z][a-z]{2})[a-z]+/g, '').toLowerCase();
  return `${name}_by_${fields.map(short).join('_')}${suffix}`.slice(0, 63);
}

/** The names of the indexes of all records. */
export async function recordIndexes(session: Session, model: StoreModel): Promise<string[]> {
  const isApart = (await readSystems(session)) !== undefined;
  return storedLayouts(model).flatMap((layout) =>
    tablesOf(layout, isApart).flatMap(({ created }) => [...created.keys()]),
  );
}

/** @param isMigration whether tables to which nothing is added may be locked as well */
export async function applyTables(
  session: ServerSession,
  model: StoreModel,
  isMigration = false,
): Promise<void> {
  const layouts = storedLayouts(model);
  const catalog = await readCatalog(session);
  await extendTables(session, catalog, layouts, isMigration);
  for (const layout of layouts) await recreateView(session, model, layout, catalog);
}

/** Adds what a newer profile or plat needs: tables, columns, parts of texts, indexes. Rows are never rewritten. */
async function extendTables(
  session: ServerSession,
  catalog: Catalog,
  layouts: readonly ResourceLayout[],
  isMigration = false,
): Promise<void> {
  const systems = await readSystems(session);
  const tables = layouts.flatMap((layout) => tablesOf(layout, systems !== undefined));
  for (const table of tables) {
    const { name, layout, created } = table;
    const known = catalog.get(name);
    const fresh = [...table.columns].filter(([column]) => !known?.has(column));
    const parts = fresh.map(([column, form]) => declaredColumn(COLUMN_TYPES, column, form));
    const apart = table.isPartitioned ? ' PARTITION BY LIST (_system)' : '';
    if (known === undefined) await session.run(`CREATE TABLE "${name}" (${parts.join(', ')})${apart}`);
    else if (parts.length > 0) {
      await session.run(`ALTER TABLE "${name}" ${parts.map((part) => `ADD ${part}`).join(', ')}`);
    }
    if (parts.length > 0 || isMigration) {
      await keepInRow(session, table, known === undefined ? [] : partitionsOf(table, systems));
    }
    if (known === undefined) await partitionTable(session, table, systems);
    if (name === layout.search?.table) await extendSearchTable(session, catalog, layout, layout.search);
    for (const [index, creation] of created) if (!catalog.has(index)) await session.run(creation);
  }
  // Indexes come last, because creating them blocks readers of these tables.
  const wanted = new Map(tables.flatMap(({ created }) => [...created]));
  for (const index of layouts.flatMap((layout) => outdatedIndexes(layout, catalog.keys(), wanted))) {
    await session.run(`DROP INDEX "${index}"`);
  }
}

/** Fills new columns of a search table, and drops old ones; an older snapshot would find a new table empty. */
async function extendSearchTable(
  session: ServerSession,
  before: Catalog,
  { columnsTable }: ResourceLayout,
  search: SearchTable,
): Promise<void> {
  const records = before.get(columnsTable);
  if (records === undefined) return;
  const known = before.get(search.table);
  const added = [...search.columns].filter((each) => known?.has(each) === false && records.has(each));
  if (known === undefined) await session.run(insertSearchRows(search, columnsTable, sql`TRUE`));
  else if (added.length > 0) await session.run(fillColumns(search.table, columnsTable, added));
  // Until autovacuum analyzes the table, the planner would have no statistics.
  if (known === undefined || added.length > 0) await session.run(`ANALYZE "${search.table}"`);
  if (known === undefined) return;
  const surplus = [...new Set(known.keys()).difference(search.columns)].map((each) => `DROP "${each}"`);
  if (surplus.length > 0) await session.run(`ALTER TABLE "${search.table}" ${surplus.join(', ')}`);
}

function fillColumns(table: string, columnsTable: string, columns: readonly string[]): Sql {
  const values = columns.map((each) => sql`${quoted(each)} = r.${quoted(each)}`);
  return sql`UPDATE ${quoted(table)} AS s SET ${join(values, ', ')} FROM ${quoted(columnsTable)} r
    WHERE r._key = s._key`;
}

/** The faster compression, if the server was built with it. */
const COMPRESSION = sql`(SELECT CASE WHEN 'lz4' = ANY(enumvals) THEN 'lz4' ELSE 'pglz' END
  FROM pg_settings WHERE name = 'default_toast_compression')`;

/** The length of a string, in characters, up to which it always stays in its row. */
const SHORT = 255;

/**
 * Keeps ready texts, and everything short, in the rows of a table and its partitions, including those that earlier versions
 * created. Otherwise the server moves columns out of a large row, the largest first, until the row has 2 KB, even columns of 24
 * bytes: it would have to look up each key and timestamp elsewhere.
 */
async function keepInRow(
  { rows, run, dialect: { oneOf } }: Session,
  { name, columns, layout }: ServerTable,
  partitions: readonly string[],
): Promise<void> {
  const long = new Set(layout.fields.filter(isLong).map((field) => field.name));
  const texts = [...columns].flatMap(([each, { kind }]) => (kind === 'text' && !long.has(each) ? each : []));
  const movable = await rows(
    sql`SELECT c.relname AS relation, a.attname AS name, ${COMPRESSION} AS compression
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = current_schema()::regnamespace AND ${oneOf(sql`c.relname`, [name, ...partitions])}
        AND ${oneOf(sql`a.attname`, texts)} AND a.attstorage = 'x'`,
  );
  for (const [relation, found] of Map.groupBy(movable, (row) => String(row.relation))) {
    const changes = found.flatMap(({ name: column, compression }) => [
      `ALTER "${column}" SET STORAGE MAIN`,
      ...(columns.get(String(column))?.isReady ? [`ALTER "${column}" SET COMPRESSION ${compression}`] : []),
    ]);
    await run({ parts: [`ALTER TABLE "${relation}" ${changes.join(', ')}`] });
  }
}

const isLong = ({ type, collection }: Field): boolean =>
  collection || (type.kind === 'string' && (type.maxLength ?? SHORT + 1) > SHORT);

/**
 * Creates the view for users (docs/sql-views.md): a column for each field in use, with agent and office fields joined. New columns
 * are added at the end, so that objects that depend on a view remain valid.
 * @param isWrong whether to recreate it although it has these columns
 */
async function recreateView(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
  catalog: Catalog,
  isWrong = false,
): Promise<void> {
  const before = columnsOfView(catalog, layout);
  const columns = viewColumns(model, layout);
  const stays = before.isSubsetOf(columns);
  if (stays && before.size === columns.size && !isWrong) return;
  if (!stays) await session.run(sql`DROP VIEW ${quoted(layout.viewName)}`);
  await session.run(createViewStatement(model, layout, layout.viewName, stays ? before : new Set()));
}

/** Recreates the view if it differs from its definition; in a write transaction. */
export const repairView = async (
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
): Promise<void> => recreateView(session, model, layout, await readCatalog(session, layout.viewName), true);

/** The columns of a view; none if it does not exist. */
const columnsOfView = (catalog: Catalog, { viewName }: ResourceLayout): Set<string> =>
  new Set(catalog.get(viewName)?.keys());

/** @param first the columns that must come first, in this order */
const createViewStatement = (
  model: StoreModel,
  layout: ResourceLayout,
  viewName: string,
  first: ReadonlySet<string>,
): Sql => ({
  parts: [`CREATE OR REPLACE VIEW "${viewName}" AS ${viewSelection(model, layout, first)}`],
});

/** Whether the view has the expected definition. Servers normalize definitions, so a temporary view is compared. */
export async function viewState(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
): Promise<ViewState> {
  const { viewName } = layout;
  const found = columnsOfView(await readCatalog(session, viewName), layout);
  if (found.size === 0) return 'absent';
  const columns = viewColumns(model, layout);
  if (found.size !== columns.size || !found.isSubsetOf(columns)) return 'different';
  const definition = async (view: string): Promise<unknown> => {
    const [row] = await session.rows(sql`SELECT pg_get_viewdef(CAST(${bind(view)} AS regclass)) AS text`);
    return row?.text;
  };
  const probe = `${viewName}_as_made`;
  await session.run(sql`BEGIN`);
  try {
    await session.run(createViewStatement(model, layout, probe, found));
    return (await definition(probe)) === (await definition(viewName)) ? 'intact' : 'different';
  } finally {
    await session.run(sql`ROLLBACK`);
  }
}
