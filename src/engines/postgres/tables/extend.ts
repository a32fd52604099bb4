import type { ResourceLayout } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { ServerSession } from '../connection/session.ts';
import { partitionsOf, partitionTable, readSystems } from '../partitions/partitions.ts';
import { tablesOf } from './tables.ts';
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
    for (const [name, index] of table.indexes) {
      if (!indexes.has(name)) await session.run(`CREATE ${index.replace('{}', `"${name}"`)}`);
    }
    if (known === undefined) await partitionTable(session, table, systems);
  }
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
