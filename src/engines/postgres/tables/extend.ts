import { join, name as quoted, type Sql, sql } from '../../../compile/fragment.ts';
import type { ResourceLayout, SearchTable } from '../../../compile/layout/index.ts';
import { fillSearch } from '../../../compile/layout/search-table.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { ServerSession } from '../connection/session.ts';
import { partitionsOf, partitionTable, readSystems } from '../partitions/partitions.ts';
import { replacedIndexes, tablesOf } from './tables.ts';
import { recreateView } from './views.ts';

/** What is in the schema of a store. */
interface Catalog {
  /** By table or view, its columns in their order. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly indexes: ReadonlySet<string>;
}

export async function readCatalog(session: ServerSession): Promise<Catalog> {
  const rows = await session.rows(
    `SELECT c.relname AS name, c.relkind IN ('i', 'I') AS is_index, array_to_string(ARRAY(
       SELECT a.attname FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind NOT IN ('i', 'I') ORDER BY a.attnum
     ), ' ') AS columns
     FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
       AND c.relkind IN ('r', 'p', 'v', 'i', 'I') AND NOT c.relispartition`,
  );
  const named = (index: boolean) => rows.filter((row) => row.is_index === index);
  return {
    columns: new Map(named(false).map((row) => [String(row.name), String(row.columns).split(' ')])),
    indexes: new Set(named(true).map((row) => String(row.name))),
  };
}

/** The layouts of all resources that have tables. */
export const storedLayouts = (model: StoreModel): ResourceLayout[] =>
  [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);

export async function applyTables(session: ServerSession, model: StoreModel): Promise<void> {
  const layouts = storedLayouts(model);
  const catalog = await readCatalog(session);
  await extendTables(session, catalog, layouts);
  for (const layout of layouts) {
    await recreateView(session, model, layout, catalog.columns.get(layout.viewName) ?? []);
  }
}

/** Adds what a newer profile or a newer plat needs: tables, columns, pieces and indexes. Nothing is ever rewritten. */
export async function extendTables(
  session: ServerSession,
  { columns, indexes }: Catalog,
  layouts: readonly ResourceLayout[],
): Promise<void> {
  const systems = await readSystems(session);
  let compression: Promise<string> | undefined;
  for (const table of layouts.flatMap((layout) => tablesOf(layout, systems !== undefined))) {
    const known = columns.get(table.name);
    const fresh = [...table.columns].filter(([name]) => !known?.includes(name));
    const parts = fresh.map(([name, type]) => `"${name}" ${type}`);
    const apart = table.isPartitioned ? ' PARTITION BY LIST (_system)' : '';
    if (known === undefined) await session.run(`CREATE TABLE "${table.name}" (${parts.join(', ')})${apart}`);
    else if (parts.length > 0) {
      await session.run(`ALTER TABLE "${table.name}" ${parts.map((part) => `ADD ${part}`).join(', ')}`);
    }
    const texts = fresh.map(([name]) => name).filter((name) => table.texts.includes(name));
    if (texts.length > 0) {
      compression ??= readCompression(session);
      for (const name of [table.name, ...(known === undefined ? [] : partitionsOf(table, systems))]) {
        await session.run(keptWithRow(name, texts, await compression));
      }
    }
    if (known === undefined) await partitionTable(session, table, systems);
    const { layout } = table;
    if (table.name === layout.search?.table) await extendSearch(session, columns, layout, layout.search);
    for (const [name, index] of table.indexes) {
      if (!indexes.has(name)) await session.run(`CREATE ${index.replace('{}', `"${name}"`)}`);
    }
  }
  // Last, since it has readers of these tables wait.
  for (const index of layouts.flatMap((layout) => replacedIndexes(layout, indexes))) {
    await session.run(`DROP INDEX "${index}"`);
  }
}

/**
 * Writes into a search table what was not in it before, and drops what its layout no longer has. The table itself stays: a
 * reader whose snapshot is older would find a new one empty.
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
  const late = [...search.columns].filter(
    (each) => known?.includes(each) === false && records.includes(each),
  );
  if (known === undefined) await session.run(fillSearch(search, columnsTable, sql`TRUE`));
  else if (late.length > 0) await session.run(fillColumns(search.table, columnsTable, late));
  // Until the server does so by itself, it would plan searches by nothing.
  if (known === undefined || late.length > 0) await session.run(`ANALYZE "${search.table}"`);
  if (known === undefined) return;
  const surplus = known.filter((each) => !search.columns.has(each)).map((each) => `DROP "${each}"`);
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

/** The faster compression where the server was built with it. */
async function readCompression(session: ServerSession): Promise<string> {
  const [row] = await session.rows(
    "SELECT 'lz4' = ANY(enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'",
  );
  return row?.lz4 === true ? 'lz4' : 'pglz';
}
