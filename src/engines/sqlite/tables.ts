import type { DatabaseSync } from 'node:sqlite';
import { type ResourceLayout, snakeCase } from '../../compile/layout/index.ts';
import { resourceTables, type StoredColumn } from '../../compile/layout/tables.ts';
import type { StoreModel } from '../../compile/model.ts';
import { creationOf, OWN_TABLES } from '../../store/own-tables.ts';
import { columnsOf, TYPES } from './columns.ts';
import { recreateView } from './views.ts';
import { extendWords } from './word-index.ts';

/** plat's own tables. */
export const OWN = OWN_TABLES.map((table) => `${creationOf(table)} WITHOUT ROWID;`).join('\n');

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
    CREATE INDEX "${columnsTable}_walk" ON "${columnsTable}" (_key, _visible, _system, _id);
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
  if (columnsOf(database, columnsTable).size === 0) database.exec(tablesOf(layout));
  else {
    const tables = resourceTables(layout);
    const changes = [...tables].flatMap(([table, columns]) => {
      const there = columnsOf(database, table);
      return [...columns].flatMap((column) =>
        there.has(column[0]) ? [] : [`ALTER TABLE "${table}" ADD COLUMN ${declared(column)}`],
      );
    });
    if (changes.length > 1 && isEmpty(database, layout)) {
      for (const table of tables.keys()) database.exec(`DROP TABLE IF EXISTS "${table}"`);
      database.exec(tablesOf(layout));
    } else for (const change of changes) database.exec(change);
  }
  for (const fields of layout.indexes) {
    const name = `${columnsTable}_by_${fields.map(snakeCase).join('_')}`;
    const list = fields.map((field) => `"${field}"`).join(', ');
    database.exec(`CREATE INDEX IF NOT EXISTS "${name}" ON "${columnsTable}" (${list})`);
  }
  extendWords(database, layout);
}

function isEmpty(database: DatabaseSync, { columnsTable, textsTable }: ResourceLayout): boolean {
  const row = database
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM "${columnsTable}") OR EXISTS (SELECT 1 FROM "${textsTable}") AS found`,
    )
    .get();
  return row?.found === 0;
}
