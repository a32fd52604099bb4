import { isOneTable, type ResourceLayout, typedFields } from '../layout/index.ts';
import { columnType, TEXT } from './codec.ts';

/** A table as a layout wants it. */
export interface WantedTable {
  readonly name: string;
  /** By name, the type and what else is said of a column. */
  readonly columns: ReadonlyMap<string, string>;
  /** Columns of ready text, which is kept with its row, compressed. */
  readonly texts: readonly string[];
  /** By name, what an index is made of. */
  readonly indexes: ReadonlyMap<string, string>;
}

const READY = `${TEXT} NOT NULL DEFAULT ''`;
const needed = (type: string): string => `${type} NOT NULL`;

/** The tables of a resource: its typed columns, and its texts where these lie apart. */
export function tablesOf(layout: ResourceLayout): WantedTable[] {
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
  const typed = typedFields(layout).map((field): [string, string] => [field.name, columnType(field)]);
  const texts = textNames(layout);
  const ready: [string, string][] = [
    ['_profile', needed('integer')],
    ...layout.links.map(({ field }): [string, string] => [field, TEXT]),
    ...texts.map((name): [string, string] => [name, READY]),
  ];
  if (isOneTable(layout)) {
    const columns = new Map([...ready, ...shared, ...own, ...typed]);
    return [
      {
        name: columnsTable,
        columns,
        texts,
        indexes: new Map([...columnIndexes(layout), ...idIndex(layout)]),
      },
    ];
  }
  return [
    {
      name: columnsTable,
      columns: new Map([...shared, ...own, ...typed]),
      texts: [],
      indexes: columnIndexes(layout),
    },
    {
      name: textsTable,
      columns: new Map([...shared, ...ready]),
      texts,
      indexes: new Map([
        ...idIndex(layout),
        [`${textsTable}_key`, `UNIQUE INDEX {} ON "${textsTable}" (_key)`],
      ]),
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

const idIndex = ({ textsTable }: ResourceLayout): Indexes =>
  new Map([[`${textsTable}_id`, `UNIQUE INDEX {} ON "${textsTable}" (_id)`]]);

/** What a walk over keys looks at stands in the index, which then serves it alone. */
const WALKED = '(_key) INCLUDE (_visible, _system, _id)';

function columnIndexes({ columnsTable: name, resource, indexes }: ResourceLayout): Indexes {
  const on = (suffix: string, rest: string): [string, string] => [
    `${name}_${suffix}`,
    `INDEX {} ON "${name}" ${rest}`,
  ];
  const unique = on('walk', WALKED);
  return new Map([
    [unique[0], `UNIQUE ${unique[1]}`],
    resource.parent === undefined
      ? // A replica's sweeps go over the keys of one source; an authority's records are not in it.
        on('source', '(_source, _key) WHERE _source IS NOT NULL')
      : on('parent', '(_parent, _key)'),
    // The floor plan interface walks the plans among the media, and asks for those of one listing; a served file is
    // asked for by its path.
    ...(resource.name === 'Media'
      ? [
          on('plans', `${WALKED} WHERE _kind = 'plan'`),
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
