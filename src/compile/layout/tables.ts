/** The columns of the tables of a resource, the same in every engine, which declares them in its own types. */
import { type ColumnKind, columnKind } from '../column-value.ts';
import { isOneTable, type ResourceLayout, type SearchTable, typedFields } from './index.ts';

/** What a column of plat's own tables stores: `count` fits 32 bits, `id` may not. */
export type StoredKind = ColumnKind | 'count' | 'id';

export interface StoredColumn {
  readonly kind: StoredKind;
  readonly isNeeded?: true;
  /** Ready text, empty until it is written. */
  readonly isReady?: true;
}

type StoredColumns = ReadonlyMap<string, StoredColumn>;

/** The columns of a search table. */
export const searchColumns = ({ fields }: SearchTable): StoredColumns =>
  new Map<string, StoredColumn>([
    ['_id', { kind: 'id', isNeeded: true }],
    ['_key', NEEDED],
    ['_system', TEXT],
    ['_visible', { kind: 'count', isNeeded: true }],
    ['_shown', { kind: 'count', isNeeded: true }],
    ...fields.map((field): [string, StoredColumn] => [field.name, { kind: columnKind(field) }]),
  ]);

/** The tables of the records of a resource by name, with their columns. */
export function resourceTables(layout: ResourceLayout): ReadonlyMap<string, StoredColumns> {
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
