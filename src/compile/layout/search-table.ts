/**
 * The search table of a large resource: a narrow copy of its rows with the short fields that filters and orders name, under the
 * numbers of the records. The table of columns contains everything in it, so it can always be recreated; the statements that do so
 * are here, for every engine.
 */
import type { Field, Resource } from '../../dictionary/index.ts';
import { all, column, join, name, type Sql, sql } from '../fragment.ts';

export interface SearchTable {
  readonly table: string;
  /** The fields with a column, in the order of the columns. */
  readonly fields: readonly Field[];
  /** All columns, including `FIXED_SEARCH_COLUMNS`. */
  readonly columns: ReadonlySet<string>;
}

/** The columns of every search table: the record of a row, and what determines who sees the row and its withheld values. */
export const FIXED_SEARCH_COLUMNS: readonly string[] = ['_id', '_key', '_system', '_visible', '_shown'];

interface Fields {
  /** Stored fields in use that have a typed column. */
  readonly stored: readonly Field[];
  /** Names of fields in an index. */
  readonly indexed: readonly string[];
}

/**
 * Chooses the fields of a search table: those in an index, and those that the dictionary lists. Undefined for a resource for which
 * the dictionary lists none, since its rows are short enough to be searched themselves.
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

/** Inserts the search rows of records, from their columns under alias `r`. */
export function insertSearchRows({ table, columns }: SearchTable, columnsTable: string, where: Sql): Sql {
  const names = [...columns];
  const given = names.map((each) => column('r', each));
  return sql`INSERT INTO ${name(table)} (${join(names.map(name), ', ')})
    SELECT ${join(given, ', ')} FROM ${name(columnsTable)} r WHERE ${where}`;
}

/** Whether the row of alias `s` is the search row of the record of alias `r`, with its current values. */
export const sameSearchRow = ({ columns }: SearchTable): Sql =>
  all([...columns].map((each) => sql`${column('s', each)} IS NOT DISTINCT FROM ${column('r', each)}`));
