import type { ResourceLayout } from '../../../compile/layout/index.ts';
import { type StoredIndex, type StoredTable, storedTables } from '../../../compile/layout/tables.ts';
import { isPartitioned } from '../dialect.ts';

/** A table as a server declares it. */
interface ServerTable extends StoredTable {
  /** By name, the statement that creates it. */
  readonly created: ReadonlyMap<string, string>;
  /** Whether it is partitioned by originating system. */
  readonly isPartitioned: boolean;
}

/** @param isApart whether the large tables of the store are partitioned by originating system */
export function tablesOf(layout: ResourceLayout, isApart: boolean): ServerTable[] {
  const partitioned = isApart && isPartitioned(layout);
  return storedTables(layout, (table, { fields, suffix }) => indexName(table, fields, suffix)).map(
    (table) => ({
      ...table,
      created: new Map(table.indexes.map((index) => [index.name, creation(table.name, index, partitioned)])),
      isPartitioned: partitioned,
    }),
  );
}

/**
 * In a partitioned table an index can only say of each partition that its rows differ; in all of them, the writer sees to it,
 * which takes the rows of a key out of wherever they are before it puts others in. Null is lowest in the order of fields, as in
 * every order of plat, and what finds no row needs the number and the key of each one as well.
 */
function creation(table: string, index: StoredIndex, partitioned: boolean): string {
  const { name, columns, covered, isOfFields, isUnique, where } = index;
  const isApart = isUnique && partitioned;
  const found = [...columns.map((each) => `"${each}"`), ...(isApart ? ['_system'] : [])];
  const located = isOfFields && covered.length > 0 ? ['_key', '_id'] : [];
  const beside = [...located, ...covered].filter((each) => !isApart || each !== '_system');
  return [
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX "${name}" ON "${table}"`,
    `(${found.map((each) => (isOfFields ? `${each} NULLS FIRST` : each)).join(', ')})`,
    ...(beside.length === 0 ? [] : [`INCLUDE (${beside.map((each) => `"${each}"`).join(', ')})`]),
    ...(isApart ? ['NULLS NOT DISTINCT'] : []),
    ...(where === undefined ? [] : [`WHERE ${where}`]),
  ].join(' ');
}

/** Names have 63 characters at the most, so words are cut to three letters. */
function indexName(name: string, fields: readonly string[], suffix: string): string {
  const short = (field: string): string => field.replace(/(?<=[A-Z][a-z]{2})[a-z]+/g, '').toLowerCase();
  return `${name}_by_${fields.map(short).join('_')}${suffix}`.slice(0, 63);
}
