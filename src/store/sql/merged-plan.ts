import type { MergedRequest } from '../read.ts';
import { label } from '../text/encode.ts';
import { fileAddress } from './file-address.ts';
import { all, bind, column, constantText, join, render, type Sql, sql } from './fragment.ts';
import { jsonOf } from './json.ts';
import { matchingRows, type Planner } from './page-plan.ts';
import type { PlannedStatement } from './plan.ts';
import { value } from './value.ts';

/** Rows of several resources in one order: the terms that the queries share, then key, then resource. */
export function planMerged(planner: Planner, request: MergedRequest): PlannedStatement {
  const { dialect } = planner;
  const sources = request.sources.map((source) => sourceRows(planner, request, source));
  const terms = (request.sources[0]?.query.order ?? []).map(({ descending }, index) =>
    dialect.order({ parts: [`o${index}`] }, descending),
  );
  const order = join([...terms, sql`k`, sql`u`], ', ');
  const rows = sql`SELECT x FROM (${join(sources, ' UNION ALL ')}) m ORDER BY ${order} LIMIT ${bind(request.limit)} OFFSET ${bind(request.skip)}`;
  const page = sql`SELECT ${dialect.bytes(dialect.joined(sql`x`))} AS body FROM (${rows}) q`;
  return render(page, dialect.placeholder);
}

function sourceRows(
  planner: Planner,
  { files }: MergedRequest,
  { query, selection }: MergedRequest['sources'][number],
): Sql {
  const { context, from, where } = matchingRows(planner, query);
  const values = query.order.map(
    ({ expression }, index) => sql`${value(context, expression)} AS ${{ parts: [`o${index}`] }}`,
  );
  const place = { files: fileAddress(files), alias: 'r' };
  const members = selection.map(
    (field) => sql`${constantText(`,${label(field.name)}`)}, ${jsonOf(context, field, place)}`,
  );
  const start = constantText(`{"@resource":"${query.resource.name}"`);
  const text = sql`concat(${join([start, ...members, sql`'}'`], ', ')})`;
  const columns = [
    sql`${column('r', '_key')} AS k`,
    sql`${constantText(query.resource.name)} AS u`,
    ...values,
    sql`${text} AS x`,
  ];
  return sql`SELECT ${join(columns, ', ')} FROM ${from} WHERE ${all(where)}`;
}
