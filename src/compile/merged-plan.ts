import { childOf } from './collection.ts';
import { type Context, visibleRows } from './context.ts';
import { damagedMark } from './damaged-mark.ts';
import { placeOf, valueAt } from './fields.ts';
import { type FileAddress, fileAddress } from './file-address.ts';
import { all, bind, column, concat, constantText, join, name, render, type Sql, sql } from './fragment.ts';
import { matchingRows, type Planner } from './page-plan.ts';
import type { PlannedStatement } from './plan.ts';
import type { MergedMember, MergedRequest, MergedSource } from './read.ts';
import { label } from './text/encode.ts';
import { value } from './value.ts';

/** Rows of several resources in one order: the terms that the queries share, then key, then resource. */
export function planMerged(planner: Planner, request: MergedRequest): PlannedStatement {
  const { dialect } = planner;
  const sources = request.sources.map((source) => sourceRows(planner, request, source));
  const terms = (request.sources[0]?.query.order ?? []).map(({ descending }, index) =>
    dialect.order(name(`o${index}`), descending),
  );
  const order = join([...terms, sql`k`, sql`u`], ', ');
  const rows = sql`SELECT x FROM (${join(sources, ' UNION ALL ')}) m ORDER BY ${order} LIMIT ${bind(request.limit)} OFFSET ${bind(request.skip)}`;
  return render(dialect.answer(rows), dialect.placeholder);
}

function sourceRows(planner: Planner, { files }: MergedRequest, source: MergedSource): Sql {
  const { query, members, images } = source;
  const { context, from, where } = matchingRows(planner, query);
  const resource = query.resource.name;
  const terms = query.order.map(
    ({ expression }, index) => sql`${value(context, expression)} AS ${name(`o${index}`)}`,
  );
  const text = concat([
    ...damagedMark(context, resource, column('r', '_key')),
    ...members.flatMap(({ via }) => linkedMark(context, via)),
    constantText(`{"@resource":"${resource}"`),
    ...members.flatMap((member) => memberText(context, member)),
    ...(images === undefined ? [] : imagesText(context, source, fileAddress(files))),
    constantText('}'),
  ]);
  const columns = [
    sql`${column('r', '_key')} AS k`,
    sql`${constantText(resource)} AS u`,
    ...terms,
    sql`${text} AS x`,
  ];
  return sql`SELECT ${join(columns, ', ')} FROM ${from} WHERE ${all(where)}`;
}

/** A value of another record is given only where that is not known to be damaged. */
function linkedMark(context: Context, via: MergedMember['via']): Sql[] {
  const target = via.at(-1)?.target;
  const resource = target === undefined ? undefined : context.model.resource(target);
  const key = resource?.fields.get(resource.key);
  if (resource === undefined || key === undefined || context.damaged?.has(resource.name) !== true) return [];
  return damagedMark(context, resource.name, valueAt(placeOf(context, 0, via, key)));
}

function memberText(context: Context, { name: shown, via, field }: MergedMember): Sql[] {
  const found = valueAt(placeOf(context, 0, via, field));
  const text = context.dialect.json(field.collection ? 'collection' : field.type.kind, found);
  return [constantText(`,${label(shown)}`), text];
}

/** The pictures of a person or an office: `[{"Id","Name","Uri"}, …]`, in their own order. */
function imagesText(context: Context, { images }: MergedSource, files: FileAddress): Sql[] {
  const target = images?.target ?? 'Media';
  if (images === undefined || !context.model.stores(target)) return [constantText(',"Images":[]')];
  const { dialect, model } = context;
  const layout = model.layout(target);
  const alias = context.alias();
  const shown = (field: string): Sql =>
    layout.fields.some((each) => each.name === field) ? column(alias, field) : sql`NULL`;
  const uri = sql`coalesce(${files(column(alias, '_file'))}, ${shown('MediaURL')})`;
  const parts = [
    ...damagedMark(context, target, column(alias, '_key')),
    constantText('{"Id":'),
    dialect.json('string', column(alias, '_key')),
    constantText(',"Name":'),
    dialect.json('string', shown('ShortDescription')),
    constantText(',"Uri":'),
    dialect.json('string', uri),
    constantText('}'),
  ];
  const where = all([
    ...childOf(context, target, images.remote, alias, images.resource, column('r', '_key'), 'r'),
    ...visibleRows(context, layout, alias),
  ]);
  const order = sql`${dialect.order(column(alias, '_rank'), false)}, ${column(alias, '_key')}`;
  const list = sql`(SELECT ${concat(parts)} AS x FROM ${name(layout.columnsTable)} ${name(alias)} WHERE ${where} ORDER BY ${order}) i`;
  const joined = sql`(SELECT ${dialect.joined(sql`x`)} FROM ${list})`;
  return [constantText(',"Images":['), joined, constantText(']')];
}
