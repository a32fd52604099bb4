import type { DatabaseSync } from 'node:sqlite';
import type { Field } from '../../dictionary/index.ts';
import { type ResourceLayout, snakeCase } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';

/** plat's own tables, which hold no records. */
export const OWN_TABLES = `
CREATE TABLE plat_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plat_profile (
  resource TEXT NOT NULL, field TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (resource, field)
) WITHOUT ROWID;
CREATE TABLE plat_sequence (resource TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE plat_counters (
  resource TEXT NOT NULL, visible INTEGER NOT NULL, system TEXT NOT NULL, rows INTEGER NOT NULL,
  PRIMARY KEY (resource, visible, system)
) WITHOUT ROWID;
CREATE TABLE plat_tombstones (
  resource TEXT NOT NULL, key TEXT NOT NULL, system TEXT, deleted_at TEXT NOT NULL, PRIMARY KEY (resource, key)
) WITHOUT ROWID;
CREATE TABLE plat_keys (
  id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
  systems TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT
) WITHOUT ROWID;
CREATE TABLE plat_key_use (
  key_id TEXT PRIMARY KEY, requests INTEGER NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
  last_request_at TEXT, last_window TEXT, last_sweep_at TEXT
) WITHOUT ROWID;
`;

/** Both tables of a resource, as far as they are the same for every profile. */
function createTables({ columnsTable, textsTable, resource, links }: ResourceLayout): string {
  const child = resource.parent !== undefined;
  const place = child ? '_parent TEXT NOT NULL, _parent_resource TEXT NOT NULL,' : '';
  const shared = `_key TEXT NOT NULL, ${place} _id INTEGER NOT NULL, _system TEXT, _visible INTEGER NOT NULL,
    _shown INTEGER NOT NULL, _kind TEXT, _rank INTEGER, _file TEXT`;
  const primary = child ? 'PRIMARY KEY (_parent, _key)' : 'PRIMARY KEY (_key)';
  const linkColumns = links.map(({ field }) => `, "${field}" TEXT`).join('');
  const native = resource.name === 'Property' ? ", native_head TEXT NOT NULL DEFAULT ''" : '';
  const parts = child
    ? ", native_text TEXT NOT NULL DEFAULT '', native_plan_text TEXT NOT NULL DEFAULT ''"
    : '';
  return `
    CREATE TABLE "${columnsTable}" (${shared}, _hash TEXT NOT NULL, _audience INTEGER, ${primary}) WITHOUT ROWID;
    CREATE TABLE "${textsTable}" (${shared}, _profile INTEGER NOT NULL${linkColumns}${native}${parts}, ${primary}) WITHOUT ROWID;
    CREATE UNIQUE INDEX "${textsTable}_id" ON "${textsTable}" (_id);
    ${child ? keyIndexes(columnsTable, textsTable) : `CREATE INDEX "${columnsTable}_walk" ON "${columnsTable}" (_key, _visible, _system, _id);`}
    CREATE INDEX "${columnsTable}_kind" ON "${columnsTable}" (_kind, _key, _visible, _system) WHERE _kind IS NOT NULL;
    ${counterTriggers(columnsTable, resource.name)}`;
}

/** Children lie under their parents; walks over all of them go by an index. */
const keyIndexes = (columns: string, texts: string): string => `
    CREATE UNIQUE INDEX "${columns}_key" ON "${columns}" (_key);
    CREATE INDEX "${columns}_walk" ON "${columns}" (_key, _visible, _system, _id);
    CREATE UNIQUE INDEX "${texts}_key" ON "${texts}" (_key);`;

/** Rows of each visibility and system are counted as they come and go, so that a count need not look at them. */
function counterTriggers(table: string, resource: string): string {
  const add = (row: 'new' | 'old', by: 1 | -1): string => `
      INSERT INTO plat_counters VALUES ('${resource}', ${row}._visible, coalesce(${row}._system, ''), ${by})
      ON CONFLICT DO UPDATE SET rows = rows + ${by};`;
  return `
    CREATE TRIGGER "${table}_in" AFTER INSERT ON "${table}" BEGIN ${add('new', 1)} END;
    CREATE TRIGGER "${table}_out" AFTER DELETE ON "${table}" BEGIN ${add('old', -1)} END;
    CREATE TRIGGER "${table}_moved" AFTER UPDATE OF _visible, _system ON "${table}"
    WHEN new._visible <> old._visible OR new._system IS NOT old._system BEGIN ${add('old', -1)} ${add('new', 1)} END;`;
}

export function createAllTables(database: DatabaseSync, model: StoreModel): void {
  for (const name of model.dictionary.resources.keys()) database.exec(createTables(model.layout(name)));
}

/** Numbers and truth values are kept as the numbers they are; all else is text. */
const affinity = (field: Field): string =>
  !field.collection && ['integer', 'decimal', 'boolean'].includes(field.type.kind) ? 'NUMERIC' : 'TEXT';

/** Typed columns of a layout: all fields but a textual key, which has `_key`. */
export function typedFields({ fields, resource }: ResourceLayout): Field[] {
  return fields.filter((field) => field.name !== resource.key || field.type.kind !== 'string');
}

function existingColumns(database: DatabaseSync, table: string): Set<string> {
  const rows = database.prepare(`SELECT name FROM pragma_table_info(?)`).all(table);
  return new Set(rows.map((row) => String(row.name)));
}

/** Adds what a newer profile needs: columns, pieces, indexes and the view. Nothing is ever rewritten. */
export function extendTables(database: DatabaseSync, layout: ResourceLayout): void {
  const columns = existingColumns(database, layout.columnsTable);
  for (const field of typedFields(layout)) {
    if (!columns.has(field.name)) {
      database.exec(`ALTER TABLE "${layout.columnsTable}" ADD COLUMN "${field.name}" ${affinity(field)}`);
    }
  }
  const texts = existingColumns(database, layout.textsTable);
  for (const piece of [...layout.pieces, ...layout.joinPieces]) {
    for (const column of [piece.valuesColumn, piece.nullsColumn]) {
      if (!texts.has(column)) {
        database.exec(`ALTER TABLE "${layout.textsTable}" ADD COLUMN "${column}" TEXT NOT NULL DEFAULT ''`);
      }
    }
  }
  for (const fields of layout.indexes) {
    const name = `${layout.columnsTable}_by_${fields.map(snakeCase).join('_')}`;
    const list = fields.map((field) => `"${field}"`).join(', ');
    database.exec(`CREATE INDEX IF NOT EXISTS "${name}" ON "${layout.columnsTable}" (${list})`);
  }
}
