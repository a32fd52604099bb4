import { join, name as quoted, type Sql, sql } from '../../../compile/fragment.ts';
import type { ResourceLayout, SearchTable } from '../../../compile/layout/index.ts';
import { fillSearch } from '../../../compile/layout/search-table.ts';
import {
  declaredColumn,
  replacedIndexes,
  type StoredIndex,
  type StoredTable,
  storedTables,
} from '../../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../../compile/model.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { ServerSession } from '../connection/session.ts';
import { isPartitioned } from '../dialect.ts';
import { partitionsOf, partitionTable, readSystems } from '../partitions/partitions.ts';
import { type Catalog, readCatalog } from './catalog.ts';
import { recreateView } from './views.ts';

/** A table as declared on the server. */
interface ServerTable extends StoredTable {
  /** The statements that create its indexes, by name. */
  readonly created: ReadonlyMap<string, string>;
  /** Whether it is partitioned by originating system. */
  readonly isPartitioned: boolean;
}

/** @param isApart whether the large tables of the store are partitioned by originating system */
export function tablesOf(layout: ResourceLayout, isApart: boolean): ServerTable[] {
  const partitioned = isApart && isPartitioned(layout);
  return storedTables(layout, (table, { fields, suffix }) => indexName(table, fields, suffix)).map(
    (table) => ({
      ...table,
      created: new Map(table.indexes.map((index) => [index.name, creation(table.name, index, partitioned)])),
      isPartitioned: partitioned,
    }),
  );
}

/**
 * In a partitioned table, a unique index applies to each partition separately. Uniqueness over all partitions is ensured by the
 * writer, which removes the rows of a key from all partitions before it inserts others. Nulls sort lowest, as in every order of
 * plat. Covering indexes also include the key and id of each row, for searches that read no record.
 */
function creation(table: string, index: StoredIndex, partitioned: boolean): string {
  const { name, columns, covered, isOfFields, isUnique, where } = index;
  const isApart = isUnique && partitioned;
  const found = [...columns.map((each) => `"${each}"`), ...(isApart ? ['_system'] : [])];
  const located = isOfFields && covered.length > 0 ? ['_key', '_id'] : [];
  const beside = [...located, ...covered].filter((each) => !isApart || each !== '_system');
  return [
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX "${name}" ON "${table}"`,
    `(${found.map((each) => (isOfFields ? `${each} NULLS FIRST` : each)).join(', ')})`,
    ...(beside.length === 0 ? [] : [`INCLUDE (${beside.map((each) => `"${each}"`).join(', ')})`]),
    ...(isApart ? ['NULLS NOT DISTINCT'] : []),
    ...(where === undefined ? [] : [`WHERE ${where}`]),
  ].join(' ');
}

/** Names have at most 63 characters, so words are abbreviated to three letters. */
function indexName(name: string, fields: readonly string[], suffix: string): string {
  const short = (field: string): string => field.replace(/(?<=[A-Z][a-z]{2})[a-z]+/g, '').toLowerCase();
  return `${name}_by_${fields.map(short).join('_')}${suffix}`.slice(0, 63);
}

export async function applyTables(session: ServerSession, model: StoreModel): Promise<void> {
  const layouts = storedLayouts(model);
  const catalog = await readCatalog(session);
  await extendTables(session, catalog, layouts);
  for (const layout of layouts) await recreateView(session, model, layout, catalog);
}

/**
 * Adds what a newer profile or a newer version of plat needs: tables, columns, parts of texts and indexes. Rows are never
 * rewritten.
 */
export async function extendTables(
  session: ServerSession,
  { columns, indexes }: Catalog,
  layouts: readonly ResourceLayout[],
): Promise<void> {
  const systems = await readSystems(session);
  let compression: Promise<string> | undefined;
  const tables = layouts.flatMap((layout) => tablesOf(layout, systems !== undefined));
  for (const table of tables) {
    const { name, layout, created } = table;
    const known = columns.get(name);
    const fresh = [...table.columns].filter(([column]) => !known?.has(column));
    const parts = fresh.map(([column, form]) => declaredColumn(COLUMN_TYPES, column, form));
    const apart = table.isPartitioned ? ' PARTITION BY LIST (_system)' : '';
    if (known === undefined) await session.run(`CREATE TABLE "${name}" (${parts.join(', ')})${apart}`);
    else if (parts.length > 0) {
      await session.run(`ALTER TABLE "${name}" ${parts.map((part) => `ADD ${part}`).join(', ')}`);
    }
    const texts = fresh.flatMap(([column, { isReady }]) => (isReady ? [column] : []));
    if (texts.length > 0) {
      compression ??= readCompression(session);
      for (const each of [name, ...(known === undefined ? [] : partitionsOf(table, systems))]) {
        await session.run(keptWithRow(each, texts, await compression));
      }
    }
    if (known === undefined) await partitionTable(session, table, systems);
    if (name === layout.search?.table) await extendSearch(session, columns, layout, layout.search);
    for (const [index, creation] of created) if (!indexes.has(index)) await session.run(creation);
  }
  // Last, because it blocks readers of these tables.
  const wanted = new Map(tables.flatMap(({ created }) => [...created]));
  for (const index of layouts.flatMap((layout) => replacedIndexes(layout, indexes, wanted))) {
    await session.run(`DROP INDEX "${index}"`);
  }
}

/**
 * Fills new columns of a search table, and drops columns that its layout no longer has. The table itself is not recreated: a reader
 * with an older snapshot would find a new table empty.
 */
async function extendSearch(
  session: ServerSession,
  before: Catalog['columns'],
  { columnsTable }: ResourceLayout,
  search: SearchTable,
): Promise<void> {
  const records = before.get(columnsTable);
  if (records === undefined) return;
  const known = before.get(search.table);
  const late = [...search.columns].filter((each) => known?.has(each) === false && records.has(each));
  if (known === undefined) await session.run(fillSearch(search, columnsTable, sql`TRUE`));
  else if (late.length > 0) await session.run(fillColumns(search.table, columnsTable, late));
  // Until autovacuum analyzes the table, the planner would have no statistics.
  if (known === undefined || late.length > 0) await session.run(`ANALYZE "${search.table}"`);
  if (known === undefined) return;
  const surplus = [...known.keys()]
    .filter((each) => !search.columns.has(each))
    .map((each) => `DROP "${each}"`);
  if (surplus.length > 0) await session.run(`ALTER TABLE "${search.table}" ${surplus.join(', ')}`);
}

function fillColumns(table: string, columnsTable: string, columns: readonly string[]): Sql {
  const values = columns.map((each) => sql`${quoted(each)} = r.${quoted(each)}`);
  return sql`UPDATE ${quoted(table)} AS s SET ${join(values, ', ')} FROM ${quoted(columnsTable)} r
    WHERE r._key = s._key`;
}

function keptWithRow(name: string, texts: readonly string[], compression: string): string {
  const changes = texts.map(
    (text) => `ALTER "${text}" SET STORAGE MAIN, ALTER "${text}" SET COMPRESSION ${compression}`,
  );
  return `ALTER TABLE "${name}" ${changes.join(', ')}`;
}

/** The faster compression, if the server was built with it. */
async function readCompression(session: ServerSession): Promise<string> {
  const [row] = await session.rows(
    "SELECT 'lz4' = ANY(enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'",
  );
  return row?.lz4 === true ? 'lz4' : 'pglz';
}
