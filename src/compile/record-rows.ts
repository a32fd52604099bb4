/**
 * Chooses the tables from which a statement reads records: this is the only place that does. A filter, an order or a list reads the
 * search table of a large resource, and the rest of a record only if it names a column that the search table lacks; the search
 * table then comes first, so that the conditions on its short rows determine which long ones are read.
 */
import { type Context, sameRow } from './context.ts';
import { column, name, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

/** Tables of records, and the conditions that join them. */
export interface RecordTables {
  readonly from: Sql;
  readonly joined: readonly Sql[];
}

/** The alias of the row of the table of columns that belongs to a row of the search table. */
const wideAlias = (alias: string): string => `${alias}_w`;

/** Declares that rows of `alias` are those of the search table, if the resource has one. */
export function useSearchTable({ narrow }: Context, { search }: ResourceLayout, alias: string): void {
  if (search !== undefined) narrow.set(alias, false);
}

/** A column that some tables of a resource lack. */
export function recordColumn(
  { narrow }: Context,
  { search }: ResourceLayout,
  alias: string,
  columnName: string,
): Sql {
  if (!narrow.has(alias) || search?.columns.has(columnName) === true) return column(alias, columnName);
  narrow.set(alias, true);
  return column(wideAlias(alias), columnName);
}

/** The tables of the rows of `alias`, once all of their columns have been named. */
export function recordTables(context: Context, layout: ResourceLayout, alias: string): RecordTables {
  const { search, columnsTable } = layout;
  const wide = sql`${name(columnsTable)} `;
  if (search === undefined || !context.narrow.has(alias)) {
    return { from: sql`${wide}${name(alias)}`, joined: [] };
  }
  const from = sql`${name(search.table)} ${name(alias)}`;
  if (context.narrow.get(alias) !== true) return { from, joined: [] };
  const wideRow = wideAlias(alias);
  return {
    from: sql`${from} CROSS JOIN ${wide}${name(wideRow)}`,
    joined: [sameRow(context.dialect, layout, wideRow, alias)],
  };
}
