/**
 * Plans the statement that counts values. It finds the records once, as a count does, and keeps only the values to be counted, from
 * which it computes everything else.
 */
import type { Field } from '../dictionary/index.ts';
import type { Context, Planner } from './context.ts';
import type { Dialect } from './dialect.ts';
import { fieldValue } from './expression.ts';
import { all, bind, column, integer, join, name, type Sql, sql } from './fragment.ts';
import { deadlineOf, matchingRows, type PlannedStatement, renderStatement } from './page-plan.ts';
import type { FacetsRequest, HistogramRanges } from './read.ts';

/** The place of the total among the rows of the statement; those of the fields follow in their order, then the histogram. */
export const TOTAL = 0;

/** What a row of the statement counts: a value, the records without one, or a range of the histogram. */
export const ROW_KINDS = { value: 0, none: 1, range: 2, extent: 3 } as const;

/** The matching records, which every part of the statement reads: `id`, and the values `f0`, `f1`, … and `h`. */
const MATCHING = sql`m`;

/**
 * Plans the counts. Each row has the place of its field or histogram (`place`), what it counts (`what`), its value as JSON, the
 * number of records `n`, its rank `k`, and the number of distinct values of its field `d`.
 */
export function planFacets(planner: Planner, request: FacetsRequest): PlannedStatement {
  const { query, fields, histogram, most } = request;
  const { dialect } = planner;
  const { context, where, tables } = matchingRows(planner, query, true);
  const values = fields.map((field, index) => valueColumn(context, field, valueName(index)));
  const measured = histogram === undefined ? [] : [valueColumn(context, histogram.field, 'h')];
  const { from, joined } = tables();
  const columns = join([sql`${column('r', '_id')} AS id`, ...values, ...measured], ', ');
  const matching = sql`SELECT ${columns} FROM ${from} WHERE ${all([...deadlineOf(dialect), ...joined, ...where])}`;
  const parts = [
    row(TOTAL, ROW_KINDS.value, { from: MATCHING }),
    ...fields.flatMap((field, index) => fieldParts(dialect, field, index, most)),
    ...(histogram === undefined ? [] : histogramParts(dialect, histogram, fields.length + 1)),
  ];
  return renderStatement(
    planner,
    sql`WITH ${MATCHING} AS MATERIALIZED (${matching}) ${join(parts, ' UNION ALL ')}`,
  );
}

const valueName = (index: number): string => `f${index}`;

/** The value of a field that the role sees; null if the value is withheld from the role. */
const valueColumn = (context: Context, field: Field, as: string): Sql =>
  sql`${fieldValue(context, 0, [], field)} AS ${name(as)}`;

interface RowParts {
  readonly value?: Sql;
  readonly n?: Sql;
  readonly k?: Sql;
  readonly d?: Sql;
  readonly from: Sql;
  readonly where?: readonly Sql[];
}

function row(
  place: number,
  what: number,
  { value = sql`'null'`, n = sql`count(*)`, k = sql`0`, d = sql`0`, from, where }: RowParts,
): Sql {
  const those = where === undefined ? sql`` : sql` WHERE ${all(where)}`;
  return sql`SELECT ${integer(place)} AS place, ${integer(what)} AS what, ${value} AS value, ${n} AS n, ${k} AS k, ${d} AS d FROM ${from}${those}`;
}

/** The most frequent values of a field, with equally frequent ones in their own order, and the records without a value. */
function fieldParts(dialect: Dialect, field: Field, index: number, most: number): Sql[] {
  const own = column('m', valueName(index));
  const place = index + 1;
  const type = field.collection ? 'string' : field.type.kind;
  const value = field.collection ? column('l', 'value') : own;
  // A list may contain a value twice.
  const n = field.collection ? sql`count(DISTINCT m.id)` : sql`count(*)`;
  const from = field.collection
    ? sql`${MATCHING} CROSS JOIN ${dialect.lateral}${dialect.members(own, 'l')}`
    : MATCHING;
  const guards = deadlineOf(dialect, column('m', 'id'));
  const counted = sql`SELECT ${value} AS value, ${n} AS n, row_number() OVER (ORDER BY ${n} DESC, ${value}) AS k, count(*) OVER () AS d FROM ${from} WHERE ${all([...guards, sql`${own} IS NOT NULL`])} GROUP BY ${value}`;
  return [
    row(place, ROW_KINDS.value, {
      value: dialect.json(type, column('q', 'value')),
      ...{ n: column('q', 'n'), k: column('q', 'k'), d: column('q', 'd') },
      from: sql`(${counted}) q`,
      where: [sql`${column('q', 'k')} <= ${integer(most)}`],
    }),
    row(place, ROW_KINDS.none, { from: MATCHING, where: [sql`${own} IS NULL`] }),
  ];
}

/** The number of values in each range between two edges, and the least and the greatest value. */
function histogramParts(dialect: Dialect, { edges, field }: HistogramRanges, place: number): Sql[] {
  const own = column('m', 'h');
  const branches = edges.map((edge, index) => sql`WHEN ${own} < ${bind(edge)} THEN ${integer(index)}`);
  const range =
    branches.length === 0 ? sql`0` : sql`CASE ${join(branches, ' ')} ELSE ${integer(edges.length)} END`;
  const ranges = sql`SELECT ${range} AS k FROM ${MATCHING} WHERE ${all([...deadlineOf(dialect, column('m', 'id')), sql`${own} IS NOT NULL`])}`;
  const grouped = sql`SELECT q.k AS k, count(*) AS n FROM (${ranges}) q GROUP BY q.k`;
  const extent = (which: Sql, k: number): Sql =>
    row(place, ROW_KINDS.extent, {
      value: dialect.json(field.type.kind, which),
      k: integer(k),
      from: MATCHING,
    });
  return [
    row(place, ROW_KINDS.range, { n: column('g', 'n'), k: column('g', 'k'), from: sql`(${grouped}) g` }),
    row(place, ROW_KINDS.none, { from: MATCHING, where: [sql`${own} IS NULL`] }),
    extent(sql`min(${own})`, 0),
    extent(sql`max(${own})`, 1),
  ];
}
