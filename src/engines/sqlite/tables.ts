import type { DatabaseSync } from 'node:sqlite';
import { isOneTable, type ResourceLayout, snakeCase, typedFields } from '../../compile/layout/index.ts';
import { columnsOf, columnType } from './columns.ts';
import { extendWords } from './word-index.ts';

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
CREATE TABLE plat_ledger_state (
  source TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (source, name)
) WITHOUT ROWID;
CREATE TABLE plat_ledger_seen (
  source TEXT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, sweep INTEGER NOT NULL,
  PRIMARY KEY (source, resource, key)
) WITHOUT ROWID;
CREATE TABLE plat_ledger_wanted (
  source TEXT NOT NULL, resource TEXT NOT NULL, why TEXT NOT NULL, key TEXT NOT NULL,
  PRIMARY KEY (source, resource, why, key)
) WITHOUT ROWID;
CREATE TABLE plat_quarantine (
  source TEXT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, reason TEXT NOT NULL, payload TEXT NOT NULL,
  first_at TEXT NOT NULL, last_at TEXT NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (source, resource, key)
) WITHOUT ROWID;
CREATE TABLE plat_leases (
  source TEXT PRIMARY KEY, holder TEXT NOT NULL, expires INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** What a column is declared as, by its name. */
type Declarations = ReadonlyMap<string, string>;

/** The columns of a resource that a profile asks for, of each of its tables; the same twice where it has one. */
interface Wanted {
  readonly columns: Declarations;
  readonly texts: Declarations;
}

function wantedColumns(layout: ResourceLayout): Wanted {
  const columns = new Map(typedFields(layout).map((field) => [field.name, columnType(field)]));
  const texts = new Map(layout.links.map(({ field }) => [field, 'TEXT']));
  for (const { valuesColumn, nullsColumn } of [...layout.pieces, ...layout.joinPieces]) {
    for (const column of [valuesColumn, nullsColumn]) texts.set(column, "TEXT NOT NULL DEFAULT ''");
  }
  if (!isOneTable(layout)) return { columns, texts };
  const all = new Map([...texts, ...columns]);
  return { columns: all, texts: all };
}

/** The tables of a resource, with the indexes that every profile has. */
function tablesOf(layout: ResourceLayout, wanted: Wanted): string {
  const { columnsTable, textsTable, resource } = layout;
  const child = resource.parent !== undefined;
  const place = child ? '_parent TEXT NOT NULL, _parent_resource TEXT NOT NULL,' : '';
  const shared = `_key TEXT NOT NULL, ${place} _id INTEGER NOT NULL, _system TEXT, _visible INTEGER NOT NULL,
    _shown INTEGER NOT NULL`;
  const own = '_kind TEXT, _rank INTEGER, _file TEXT, _hash TEXT NOT NULL, _audience INTEGER, _source TEXT';
  const native = resource.name === 'Property' ? ", native_head TEXT NOT NULL DEFAULT ''" : '';
  const parts = child
    ? ", native_text TEXT NOT NULL DEFAULT '', native_plan_text TEXT NOT NULL DEFAULT ''"
    : '';
  const texts = `_profile INTEGER NOT NULL${native}${parts}`;
  const primary = child ? 'PRIMARY KEY (_parent, _key)' : 'PRIMARY KEY (_key)';
  const [ofColumns, ofTexts] = [declared(wanted.columns), declared(wanted.texts)];
  const tables = isOneTable(layout)
    ? `CREATE TABLE "${columnsTable}" (${shared}, ${own}, ${texts}${ofColumns}, ${primary}) WITHOUT ROWID;`
    : `CREATE TABLE "${columnsTable}" (${shared}, ${own}${ofColumns}, ${primary}) WITHOUT ROWID;
       CREATE TABLE "${textsTable}" (${shared}, ${texts}${ofTexts}, ${primary}) WITHOUT ROWID;`;
  return `
    ${tables}
    CREATE UNIQUE INDEX "${textsTable}_id" ON "${textsTable}" (_id);
    CREATE INDEX "${columnsTable}_walk" ON "${columnsTable}" (_key, _visible, _system, _id);
    ${child ? '' : sourceIndex(columnsTable)}
    ${resource.name === 'Media' ? mediaIndexes(columnsTable) : ''}`;
}

const declared = (columns: Declarations): string =>
  [...columns].map(([column, type]) => `, "${column}" ${type}`).join('');

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
  const { columnsTable, textsTable } = layout;
  const wanted = wantedColumns(layout);
  const columns = columnsOf(database, columnsTable);
  if (columns.size === 0) database.exec(tablesOf(layout, wanted));
  else {
    const lacking = (table: string, declarations: Declarations): string[] => {
      const there = columnsOf(database, table);
      return [...declarations].flatMap(([column, type]) =>
        there.has(column) ? [] : [`ALTER TABLE "${table}" ADD COLUMN "${column}" ${type}`],
      );
    };
    const changes = [
      ...lacking(columnsTable, wanted.columns),
      ...(isOneTable(layout) ? [] : lacking(textsTable, wanted.texts)),
    ];
    if (changes.length > 1 && isEmpty(database, layout)) {
      for (const table of new Set([columnsTable, textsTable]))
        database.exec(`DROP TABLE IF EXISTS "${table}"`);
      database.exec(tablesOf(layout, wanted));
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
