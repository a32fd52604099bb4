import {
  indexedTable,
  isOneTable,
  type ResourceLayout,
  type SearchTable,
} from '../../../compile/layout/index.ts';
import { resourceTables, type StoredColumn, searchColumns } from '../../../compile/layout/tables.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import { isPartitioned } from '../dialect.ts';

/** A table as a layout wants it. */
interface WantedTable {
  readonly layout: ResourceLayout;
  readonly name: string;
  /** By name, the type and what else is said of a column. */
  readonly columns: ReadonlyMap<string, string>;
  /** Columns of ready text, which is kept with its row, compressed. */
  readonly texts: readonly string[];
  /** By name, what an index is made of. */
  readonly indexes: ReadonlyMap<string, string>;
  /** Whether it is partitioned by originating system. */
  readonly isPartitioned: boolean;
}

const typeOf = ({ kind, isNeeded, isReady }: StoredColumn): string =>
  `${COLUMN_TYPES[kind]}${isNeeded ? ' NOT NULL' : ''}${isReady ? " DEFAULT ''" : ''}`;

/**
 * The tables of a resource: its typed columns, its texts where these have a table of their own, and its search table if it
 * has one.
 * @param isApart whether the large tables of the store are partitioned by originating system
 */
export function tablesOf(layout: ResourceLayout, isApart: boolean): WantedTable[] {
  const partitioned = isApart && isPartitioned(layout);
  const { search } = layout;
  const tables = new Map([
    ...resourceTables(layout),
    ...(search === undefined ? [] : [[search.table, searchColumns(search)] as const]),
  ]);
  return [...tables].map(([name, columns]) => ({
    layout,
    name,
    columns: new Map([...columns].map(([column, form]) => [column, typeOf(form)])),
    texts: [...columns].flatMap(([column, { isReady }]) => (isReady ? [column] : [])),
    indexes: new Map([
      ...(name === layout.columnsTable ? columnIndexes(layout, partitioned) : []),
      ...(name === layout.textsTable ? textIndexes(layout, partitioned) : []),
      ...(name === search?.table ? searchIndexes(layout, search, partitioned) : []),
    ]),
    isPartitioned: partitioned,
  }));
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

const textIndexes = (layout: ResourceLayout, partitioned: boolean): Indexes => {
  const { textsTable } = layout;
  const of = (column: '_id' | '_key'): [string, string] => [
    `${textsTable}${column}`,
    unique(textsTable, column, [], partitioned),
  ];
  return new Map(isOneTable(layout) ? [of('_id')] : [of('_id'), of('_key')]);
};

/** What a walk over keys looks at stands in the index, which then serves it alone. */
const WALKED = ['_visible', '_system', '_id'];

function columnIndexes(layout: ResourceLayout, partitioned: boolean): Indexes {
  const { columnsTable: name, resource, search } = layout;
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
    ...(search === undefined ? fieldIndexes(layout, name) : []),
  ]);
}

/**
 * A key may have two rows for as long as one of them is damaged: the number tells which is the record's. Each of them is then
 * found and mended.
 */
const searchIndexes = (layout: ResourceLayout, { table }: SearchTable, partitioned: boolean): Indexes =>
  new Map([
    [`${table}_id`, unique(table, '_id', [], partitioned)],
    [`${table}_walk`, `INDEX {} ON "${table}" (_key) INCLUDE (${WALKED.join(', ')})`],
    ...fieldIndexes(layout, table),
  ]);

/** Null is lowest, as in every order of plat. What finds no row needs the number and the key of each one as well. */
const fieldIndexes = ({ indexes, search }: ResourceLayout, table: string): [string, string][] =>
  indexes.map(({ fields, covered, suffix }) => {
    const beside = search === undefined || covered.length === 0 ? [] : ['_key', '_id', ...covered];
    const include = beside.length === 0 ? '' : ` INCLUDE (${beside.map((each) => `"${each}"`).join(', ')})`;
    const found = fields.map((field) => `"${field}" NULLS FIRST`).join(', ');
    return [indexName(table, fields, suffix), `INDEX {} ON "${table}" (${found})${include}`];
  });

/**
 * Which of some indexes are in place of those that a layout wants: on the table of columns where a search table came later, or
 * with fewer fields.
 */
export function replacedIndexes(layout: ResourceLayout, found: ReadonlySet<string>): string[] {
  const { columnsTable, search } = layout;
  const wanted = new Set(fieldIndexes(layout, indexedTable(layout)).map(([name]) => name));
  const tables = [columnsTable, ...(search === undefined ? [] : [search.table])];
  return [...found].filter(
    (name) => tables.some((table) => name.startsWith(`${table}_by_`)) && !wanted.has(name),
  );
}

/** Names have 63 characters at the most, so words are cut to three letters. */
function indexName(name: string, fields: readonly string[], suffix: string): string {
  const short = (field: string): string => field.replace(/(?<=[A-Z][a-z]{2})[a-z]+/g, '').toLowerCase();
  return `${name}_by_${fields.map(short).join('_')}${suffix}`.slice(0, 63);
}
