import { columnKind } from '../../../compile/column-value.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../../compile/layout/index.ts';
import { COLUMN_TYPES, TEXT } from '../column-types.ts';
import { isPartitioned } from '../dialect.ts';

/** A table as a layout wants it. */
export interface WantedTable {
  readonly name: string;
  /** By name, the type and what else is said of a column. */
  readonly columns: ReadonlyMap<string, string>;
  /** Columns of ready text, which is kept with its row, compressed. */
  readonly texts: readonly string[];
  /** By name, what an index is made of. */
  readonly indexes: ReadonlyMap<string, string>;
  /** Whether it is laid apart by originating system. */
  readonly isPartitioned: boolean;
}

const READY = `${TEXT} NOT NULL DEFAULT ''`;
const needed = (type: string): string => `${type} NOT NULL`;

/**
 * The tables of a resource: its typed columns, and its texts where these lie apart.
 * @param apart whether the large tables of the store are laid apart by originating system
 */
export function tablesOf(layout: ResourceLayout, apart: boolean): WantedTable[] {
  const { columnsTable, textsTable, resource } = layout;
  const child = resource.parent !== undefined;
  const shared: [string, string][] = [
    ['_key', needed(TEXT)],
    ...(child ? ['_parent', '_parent_resource'] : []).map((name): [string, string] => [name, needed(TEXT)]),
    ['_id', needed('bigint')],
    ['_system', TEXT],
    ['_visible', needed('integer')],
    ['_shown', needed('integer')],
  ];
  const own: [string, string][] = [
    ['_kind', TEXT],
    ['_rank', 'double precision'],
    ['_file', TEXT],
    ['_hash', needed(TEXT)],
    ['_audience', 'integer'],
    ['_source', TEXT],
  ];
  const typed = typedFields(layout).map((field): [string, string] => [
    field.name,
    COLUMN_TYPES[columnKind(field)],
  ]);
  const texts = textNames(layout);
  const ready: [string, string][] = [
    ['_profile', needed('integer')],
    ...layout.links.map(({ field }): [string, string] => [field, TEXT]),
    ...texts.map((name): [string, string] => [name, READY]),
  ];
  const partitioned = apart && isPartitioned(layout);
  if (isOneTable(layout)) {
    const columns = new Map([...ready, ...shared, ...own, ...typed]);
    return [
      {
        name: columnsTable,
        columns,
        texts,
        indexes: new Map([...columnIndexes(layout, partitioned), ...idIndex(layout, partitioned)]),
        isPartitioned: partitioned,
      },
    ];
  }
  return [
    {
      name: columnsTable,
      columns: new Map([...shared, ...own, ...typed]),
      texts: [],
      indexes: columnIndexes(layout, partitioned),
      isPartitioned: partitioned,
    },
    {
      name: textsTable,
      columns: new Map([...shared, ...ready]),
      texts,
      indexes: new Map([
        ...idIndex(layout, partitioned),
        [`${textsTable}_key`, unique(textsTable, '_key', [], partitioned)],
      ]),
      isPartitioned: partitioned,
    },
  ];
}

function textNames({ resource, pieces, joinPieces }: ResourceLayout): string[] {
  const native = resource.name === 'Property' ? ['native_head'] : [];
  const parts = resource.parent === undefined ? [] : ['native_text', 'native_plan_text'];
  return [
    ...native,
    ...parts,
    ...[...pieces, ...joinPieces].flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]),
  ];
}

type Indexes = ReadonlyMap<string, string>;

/**
 * An index of what is different in each row. In a partitioned table it can only say so of each partition; in all of
 * them, the writer sees to it, which takes the rows of a key out of wherever they are before it puts others in.
 */
function unique(table: string, column: string, included: readonly string[], partitioned: boolean): string {
  const others = included.filter((each) => !partitioned || each !== '_system').join(', ');
  const include = others === '' ? '' : ` INCLUDE (${others})`;
  return partitioned
    ? `UNIQUE INDEX {} ON "${table}" (${column}, _system)${include} NULLS NOT DISTINCT`
    : `UNIQUE INDEX {} ON "${table}" (${column})${include}`;
}

const idIndex = ({ textsTable }: ResourceLayout, partitioned: boolean): Indexes =>
  new Map([[`${textsTable}_id`, unique(textsTable, '_id', [], partitioned)]]);

/** What a walk over keys looks at stands in the index, which then serves it alone. */
const WALKED = ['_visible', '_system', '_id'];

function columnIndexes(
  { columnsTable: name, resource, indexes }: ResourceLayout,
  partitioned: boolean,
): Indexes {
  const on = (suffix: string, rest: string): [string, string] => [
    `${name}_${suffix}`,
    `INDEX {} ON "${name}" ${rest}`,
  ];
  return new Map([
    [`${name}_walk`, unique(name, '_key', WALKED, partitioned)],
    resource.parent === undefined
      ? // A replica's sweeps go over the keys of one source; an authority's records are not in it.
        on('source', '(_source, _key) WHERE _source IS NOT NULL')
      : on('parent', '(_parent, _key)'),
    // The floor plan interface walks the plans among the media, and asks for those of one listing; a served file is
    // asked for by its path.
    ...(resource.name === 'Media'
      ? [
          on('plans', `(_key) INCLUDE (${WALKED.join(', ')}) WHERE _kind = 'plan'`),
          on('plans_of', `(_parent, _key) WHERE _kind = 'plan'`),
          on('file', '(_file) WHERE _file IS NOT NULL'),
        ]
      : []),
    // Null is lowest, as in every order of plat.
    ...indexes.map((fields): [string, string] => [
      indexName(name, fields),
      `INDEX {} ON "${name}" (${fields.map((field) => `"${field}" NULLS FIRST`).join(', ')})`,
    ]),
  ]);
}

/** Names have 63 characters at the most, so words are cut to three letters. */
function indexName(name: string, fields: readonly string[]): string {
  const short = (field: string): string => field.replace(/(?<=[A-Z][a-z]{2})[a-z]+/g, '').toLowerCase();
  return `${name}_by_${fields.map(short).join('_')}`.slice(0, 63);
}
