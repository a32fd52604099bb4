/**
 * The tables of a resource with their columns, keys and indexes. They are the same in every engine, which declares them in its own
 * types and SQL.
 */
import { type ColumnKind, columnKind } from '../column-value.ts';
import type { FieldIndex } from './field-indexes.ts';
import { indexedTable, isOneTable, type ResourceLayout, type SearchTable, typedFields } from './index.ts';

/** The kind of values in a column of plat's own tables: `count` fits 32 bits, `id` may not. */
export type StoredKind = ColumnKind | 'count' | 'id';

export interface StoredColumn {
  readonly kind: StoredKind;
  readonly isNeeded?: true;
  /** Ready text, empty until it is written. */
  readonly isReady?: true;
}

type StoredColumns = ReadonlyMap<string, StoredColumn>;

/** The declaration of a column in SQL. */
export const declaredColumn = (
  types: Readonly<Record<StoredKind, string>>,
  name: string,
  { kind, isNeeded, isReady }: StoredColumn,
): string => `"${name}" ${types[kind]}${isNeeded ? ' NOT NULL' : ''}${isReady ? " DEFAULT ''" : ''}`;

/** An index of a table. An engine that stores tables in key order does not need all of them. */
export interface StoredIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** Further columns that searches with this index read. */
  readonly covered: readonly string[];
  /** Whether the dictionary declares the index (field-indexes.ts). */
  readonly isOfFields?: true;
  /** Whether no two rows have the same values in its columns. */
  readonly isUnique?: true;
  /** A condition on the indexed rows; absent: all rows are indexed. */
  readonly where?: string;
}

export interface StoredTable {
  readonly layout: ResourceLayout;
  readonly name: string;
  readonly columns: StoredColumns;
  /** The columns of its primary key, in the order in which rows are read. */
  readonly key: readonly string[];
  readonly indexes: readonly StoredIndex[];
}

/**
 * The tables of a resource: its columns, its texts if they have a table of their own, and its search table if it has one.
 * @param nameOf makes the name of an index of fields; absent for a caller that needs no indexes
 */
export function storedTables(
  layout: ResourceLayout,
  nameOf: (table: string, index: FieldIndex) => string = (table) => table,
): StoredTable[] {
  const { columnsTable, textsTable, resource, search } = layout;
  const key = resource.parent === undefined ? ['_key'] : ['_parent', '_key'];
  const table = (
    name: string,
    columns: StoredColumns,
    key: readonly string[],
    own: readonly StoredIndex[],
  ): StoredTable => {
    if (name !== indexedTable(layout)) return { layout, name, columns, key, indexes: own };
    const ofFields = layout.indexes.map((index): StoredIndex => {
      const covered = search === undefined ? [] : index.covered;
      return { name: nameOf(name, index), columns: index.fields, covered, isOfFields: true };
    });
    return { layout, name, columns, key, indexes: [...own, ...ofFields] };
  };
  const ofRecords = [...resourceTables(layout)].map(([name, columns]) =>
    table(name, columns, key, [
      ...(name === columnsTable ? recordIndexes(layout) : [unique(name, '_key')]),
      ...(name === textsTable ? [unique(name, '_id')] : []),
    ]),
  );
  if (search === undefined) return ofRecords;
  // If one of the tables is damaged, a key may have two rows: the number shows which one belongs to the record.
  const walk = { name: `${search.table}_walk`, columns: ['_key'], covered: WALK_COLUMNS };
  const own = [unique(search.table, '_id'), walk];
  return [...ofRecords, table(search.table, searchColumns(search), ['_id'], own)];
}

/** The index contains everything that a walk over keys reads, so no row is read. */
const WALK_COLUMNS = ['_visible', '_system', '_id'];

const unique = (table: string, column: '_id' | '_key'): StoredIndex => ({
  name: `${table}${column}`,
  columns: [column],
  covered: [],
  isUnique: true,
});

function recordIndexes({ columnsTable, resource }: ResourceLayout): StoredIndex[] {
  const on = (name: string, columns: readonly string[], more: Partial<StoredIndex> = {}): StoredIndex => ({
    ...{ name: `${columnsTable}_${name}`, columns, covered: [] },
    ...more,
  });
  const isPlan = "_kind = 'plan'";
  return [
    on('walk', ['_key'], { covered: WALK_COLUMNS, isUnique: true }),
    resource.parent === undefined
      ? // A replica's sweeps go over the keys of one source; an authority's records are not in it.
        on('source', ['_source', '_key'], { where: '_source IS NOT NULL' })
      : on('parent', ['_parent', '_key']),
    // The floor plan interface walks the plans among the media, and requests those of one listing; a served file is requested by
    // its path.
    ...(resource.name === 'Media'
      ? [
          on('plans', ['_key'], { covered: WALK_COLUMNS, where: isPlan }),
          on('plans_of', ['_parent', '_key'], { where: isPlan }),
          on('file', ['_file'], { where: '_file IS NOT NULL' }),
        ]
      : []),
  ];
}

/** Those of the found indexes of walks and fields that other indexes replace, after a change of layout or of the fields in use. */
export function outdatedIndexes(
  layout: ResourceLayout,
  found: Iterable<string>,
  wanted: ReadonlyMap<string, unknown>,
): string[] {
  const tables = [layout.columnsTable, indexedTable(layout)];
  const isOurs = (index: string): boolean =>
    tables.some((table) => index === `${table}_walk` || index.startsWith(`${table}_by_`));
  return [...found].filter((index) => isOurs(index) && !wanted.has(index));
}

const searchColumns = ({ fields }: SearchTable): StoredColumns =>
  new Map<string, StoredColumn>([
    ['_id', { kind: 'id', isNeeded: true }],
    ['_key', NEEDED],
    ['_system', TEXT],
    ['_visible', { kind: 'count', isNeeded: true }],
    ['_shown', { kind: 'count', isNeeded: true }],
    ...fields.map((field): [string, StoredColumn] => [field.name, { kind: columnKind(field) }]),
  ]);

/** The tables of the records of a resource by name, with their columns. */
function resourceTables(layout: ResourceLayout): ReadonlyMap<string, StoredColumns> {
  const { columnsTable, textsTable, resource, links, pieces, joinPieces } = layout;
  const isPart = resource.parent !== undefined;
  const place: [string, StoredColumn][] = isPart
    ? [
        ['_parent', NEEDED],
        ['_parent_resource', NEEDED],
      ]
    : [];
  const native = [
    ...(resource.name === 'Property' ? ['native_head'] : []),
    ...(isPart ? ['native_text', 'native_plan_text'] : []),
  ];
  const ready = [...pieces, ...joinPieces].flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]);
  // Short columns come first, before texts that may be long.
  const shared: [string, StoredColumn][] = [
    ['_key', NEEDED],
    ...place,
    ['_id', { kind: 'id', isNeeded: true }],
    ['_system', TEXT],
    ['_visible', { kind: 'count', isNeeded: true }],
    ['_shown', { kind: 'count', isNeeded: true }],
  ];
  const own: [string, StoredColumn][] = [
    ['_kind', TEXT],
    ['_rank', { kind: 'number' }],
    ['_file', TEXT],
    ['_hash', NEEDED],
    ['_audience', { kind: 'count' }],
    ['_source', TEXT],
  ];
  const texts: [string, StoredColumn][] = [
    ['_profile', { kind: 'count', isNeeded: true }],
    ...links.map(({ field }): [string, StoredColumn] => [field, TEXT]),
    ...[...native, ...ready].map((each): [string, StoredColumn] => [each, READY]),
  ];
  const typed = typedFields(layout).map((field): [string, StoredColumn] => [
    field.name,
    { kind: columnKind(field) },
  ]);
  return isOneTable(layout)
    ? new Map([[columnsTable, new Map([...shared, ...own, ...texts, ...typed])]])
    : new Map([
        [columnsTable, new Map([...shared, ...own, ...typed])],
        [textsTable, new Map([...shared, ...texts])],
      ]);
}

const TEXT: StoredColumn = { kind: 'text' };

const NEEDED: StoredColumn = { kind: 'text', isNeeded: true };
const READY: StoredColumn = { kind: 'text', isNeeded: true, isReady: true };
