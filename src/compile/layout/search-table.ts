/**
 * The search table of a large resource: a narrow copy of its rows with the short fields that filters and orders name,
 * under the number of the record. It holds nothing that the table of columns does not, so it can always be recreated
 * from that; the statements that do so are here, for every engine.
 */
import type { Field, Resource } from '../../dictionary/index.ts';
import { all, column, join, name, type Sql, sql } from '../fragment.ts';

export interface SearchTable {
  readonly table: string;
  /** The fields with a column, in the order of the columns. */
  readonly fields: readonly Field[];
  /** All columns, those of `FIXED_SEARCH_COLUMNS` included. */
  readonly columns: ReadonlySet<string>;
}

/** The columns of every search table: the record of a row, and what decides who sees the row and its withheld values. */
export const FIXED_SEARCH_COLUMNS: readonly string[] = ['_id', '_key', '_system', '_visible', '_shown'];

interface Fields {
  /** Stored fields in use that have a typed column. */
  readonly stored: readonly Field[];
  /** Names of fields in an index. */
  readonly indexed: readonly string[];
}

/**
 * The rule by which fields are chosen: those in an index, and those that the dictionary lists. Undefined for a resource
 * for which it lists none: its rows are short enough to be read themselves.
 */
export function searchTable(
  table: string,
  { filteredBy }: Resource,
  { stored, indexed }: Fields,
): SearchTable | undefined {
  if (filteredBy === undefined) return undefined;
  const chosen = new Set([...indexed, ...filteredBy]);
  const fields = stored.filter((field) => chosen.has(field.name));
  return { table, fields, columns: new Set([...FIXED_SEARCH_COLUMNS, ...fields.map((field) => field.name)]) };
}

/** Writes the rows of records, from their columns under alias `r`. */
export function insertSearchRows({ table, columns }: SearchTable, columnsTable: string, where: Sql): Sql {
  const names = [...columns];
  const given = names.map((each) => column('r', each));
  return sql`INSERT INTO ${name(table)} (${join(names.map(name), ', ')})
    SELECT ${join(given, ', ')} FROM ${name(columnsTable)} r WHERE ${where}`;
}

/** Whether the row of alias `s` is that of the record of alias `r`, with its values. */
export const sameSearchRow = ({ columns }: SearchTable): Sql =>
  all([...columns].map((each) => sql`${column('s', each)} IS NOT DISTINCT FROM ${column('r', each)}`));
