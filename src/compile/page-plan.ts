import type { RowScope } from '../access/index.ts';
import { type Base, baseOf } from './base.ts';
import { childOf } from './collection.ts';
import { condition } from './condition.ts';
import { type Context, type ContextSource, makeContext, sameRow, visibleRows } from './context.ts';
import type { DamagedRecords } from './damaged-records.ts';
import type { Dialect } from './dialect.ts';
import { fileAddress } from './file-address.ts';
import { all, bind, column, integer, join, name, render, type Sql, slot, sql } from './fragment.ts';
import { isOneTable } from './layout/index.ts';
import { isJudged, type StoreModel } from './model.ts';
import { partConditions } from './native-part-text.ts';
import { orderOf } from './order.ts';
import type { PagePlan, PlannedStatement } from './plan.ts';
import type { ListPageRequest, PageRequest, RecordQuery, RecordRequest } from './read.ts';
import { searchCondition } from './search.ts';
import { movesWithDay, startOf, todaysRules } from './visibility.ts';

/** What every plan is made with. */
export interface Planner {
  readonly dialect: Dialect;
  readonly model: StoreModel;
  /** As of `ContextSource`. */
  readonly damaged?: DamagedRecords | undefined;
}

export function contextSource(
  planner: Planner,
  query: { readonly view: { readonly scope: RowScope }; readonly now: string },
): ContextSource {
  const { dialect, model, damaged } = planner;
  const source = { dialect, model, damaged, rows: query.view.scope, now: query.now };
  return isJudged(model) ? source : { ...source, todaysRules: todaysRules(planner) };
}

const planned = ({ dialect }: Planner, statement: Sql): PlannedStatement =>
  render(statement, dialect.placeholder);

/** The page of a request: by key alone in one statement, else first the rows and then their texts. */
export function planPage(planner: Planner, request: PageRequest): PagePlan {
  return isByKey(request) ? planRange(planner, request) : planSearch(planner, request);
}

/** Whether the page is a range of keys, of which nothing has to be found first. */
export function isByKey({ query, position }: PageRequest): boolean {
  const { filter, search, order, part, under } = query;
  const isWhole = [filter, search, part, under].every((each) => each === undefined) && order.length === 0;
  return isWhole && position.kind !== 'offset';
}

function base(
  planner: Planner,
  request: PageRequest | ListPageRequest | RecordRequest,
  find: 'by-key' | 'by-id',
): Base {
  const { query, shape, files } = request;
  const layout = planner.model.layout(query.resource.name);
  return baseOf(contextSource(planner, query), query.view, layout, shape, fileAddress(files), find);
}

/** "Belongs to the record above", and "is of the part", as far as the query asks for them. */
function membership(
  context: Context,
  { under, part, resource }: Pick<RecordQuery, 'under' | 'part' | 'resource'>,
  alias: string,
): Sql[] {
  const conditions: Sql[] = [];
  if (under !== undefined) {
    const { navigation, key } = under;
    conditions.push(
      ...childOf(context, resource.name, navigation.remote, alias, navigation.resource, bind(key)),
    );
  }
  if (part !== undefined) conditions.push(...partConditions(part, alias));
  return conditions;
}

function planRange(planner: Planner, request: PageRequest): PagePlan {
  const { query, position, limit } = request;
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const { from, main, keyed, text } = base(planner, request, 'by-key');
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const key = column(main, '_key');
  // Two tables in many parts may be merged: then each must begin at the key.
  const begins = dialect.sameSystem === undefined ? [main] : keyed;
  const after =
    'key' in position ? begins.map((alias) => sql`${column(alias, '_key')} > ${bind(position.key)}`) : [];
  const rows = sql`SELECT ${key} AS k, ${text} AS x FROM ${from} WHERE ${all([...visible, ...after])} ORDER BY ${key} LIMIT ${bind(limit)}`;
  const follows = (last: Sql): Sql => {
    const later = all([
      ...visibleRows(contextSource(planner, query), layout, 'r'),
      sql`${column('r', '_key')} > ${last}`,
    ]);
    return sql`SELECT 1 AS more FROM ${name(layout.columnsTable)} r WHERE ${later} LIMIT 1`;
  };
  const { page, more } = dialect.page(rows, follows);
  const plan = { kind: 'range', page: planned(planner, page) } as const;
  return more === undefined ? plan : { ...plan, more: planned(planner, more) };
}

/** The rows that a query asks for, without order: from its columns, under alias `r`. */
export function matchingRows(
  planner: Planner,
  query: RecordQuery,
): { context: Context; from: Sql; where: Sql[] } {
  const layout = planner.model.layout(query.resource.name);
  const context = makeContext(contextSource(planner, query), 'r', query.resource.name);
  const conditions = [...visibleRows(context, layout, 'r'), ...membership(context, query, 'r')];
  const { filter, search, among, after } = query;
  if (among !== undefined) {
    const list = planner.dialect.list(bind(JSON.stringify([...among])), 'among');
    conditions.push(sql`r._id IN (SELECT among.value FROM ${list})`);
  }
  if (after !== undefined) {
    const ranges = orderOf(context, query, 'r').after(after.values, after.key);
    conditions.push(sql`(${join(ranges, ' OR ')})`);
  }
  if (filter !== undefined) conditions.push(condition(context, filter, false));
  if (search !== undefined) conditions.push(searchCondition(context, query.view, layout, search));
  return { context, from: sql`${name(layout.columnsTable)} r`, where: conditions };
}

function planSearch(planner: Planner, request: PageRequest): PagePlan {
  const { query, position, limit } = request;
  const { dialect } = planner;
  const { context, from, where } = matchingRows(planner, query);
  const order = orderOf(context, query, 'r');
  const columns = join(foundColumns('r', order.values), ', ');
  const guards = dialect.deadline === undefined ? [] : [dialect.deadline];
  const offset = position.kind === 'offset' ? sql` OFFSET ${bind(position.skip)}` : sql``;
  const ranges = rangesOf(position, order);
  const find = ranges.map((range) =>
    planned(
      planner,
      sql`SELECT ${columns} FROM ${from} WHERE ${all([...guards, ...where, ...range])} ORDER BY ${order.clause} LIMIT ${slot('limit')}${offset}`,
    ),
  );
  return { kind: 'search', find, limit, body: planBody(planner, request) };
}

/** What is told of a found row. Each column has a name of its own, also when a term stands twice. */
const foundColumns = (alias: string, values: readonly Sql[]): Sql[] => [
  sql`${column(alias, '_id')} AS id`,
  sql`${column(alias, '_key')} AS key`,
  ...orderColumns(values),
];

const orderColumns = (values: readonly Sql[]): Sql[] =>
  values.map((value, index) => sql`${value} AS ${name(`o${index}`)}`);

function rangesOf(position: PageRequest['position'], order: ReturnType<typeof orderOf>): Sql[][] {
  switch (position.kind) {
    case 'start':
    case 'offset':
      return [[]];
    case 'after-key':
      return [[sql`${column('r', '_key')} > ${bind(position.key)}`]];
    case 'after-row':
      return order.after(position.values, position.key).map((range) => [range]);
  }
}

/** The texts of the rows whose ids are given, in the order of the ids; what is not visible is left out. */
function planBody(planner: Planner, request: PageRequest | ListPageRequest): PlannedStatement {
  const { dialect, model } = planner;
  const { query } = request;
  const layout = model.layout(query.resource.name);
  const { from, main, ids: idTable, text } = base(planner, request, 'by-id');
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const ids = dialect.list(slot('ids'), 'j');
  const match = sql`${column(idTable, '_id')} = ${column('j', 'value')}`;
  const rows = sql`SELECT ${text} AS x FROM ${ids} CROSS JOIN ${from} WHERE ${all([match, ...visible])} ORDER BY ${column('j', 'position')} LIMIT ${slot('limit')}`;
  return planned(planner, dialect.answer(rows));
}

/** A page of a list that was found before. */
export function planList(planner: Planner, request: ListPageRequest): PagePlan {
  const { query, ids, limit } = request;
  const layout = planner.model.layout(query.resource.name);
  const context = makeContext(contextSource(planner, query), 'r', query.resource.name);
  const order = orderOf(context, query, 'r');
  const list = planner.dialect.list(slot('ids'), 'j');
  const one = isOneTable(layout);
  const texts = sql`${name(layout.textsTable)} ${one ? sql`r` : sql`t`}`;
  // The columns are needed for the values of an order alone.
  const joined =
    one || query.order.length === 0
      ? texts
      : sql`${texts} JOIN ${name(layout.columnsTable)} r ON ${sameRow(planner.dialect, layout, 'r', 't')}`;
  const main = one ? 'r' : 't';
  const match = sql`${column(main, '_id')} = j.value`;
  const visible = visibleRows(contextSource(planner, query), layout, main);
  const columns = join([...foundColumns(main, []), sql`j.position`, ...orderColumns(order.values)], ', ');
  const find = sql`SELECT ${columns} FROM ${list} CROSS JOIN ${joined} WHERE ${all([match, ...visible])} ORDER BY j.position LIMIT ${slot('limit')}`;
  return { kind: 'list', ids, limit, find: planned(planner, find), body: planBody(planner, request) };
}

/** One record by key: its text, or no row. */
export function planRecord(planner: Planner, request: RecordRequest): PlannedStatement {
  const { dialect, model } = planner;
  const { query, key } = request;
  const layout = model.layout(query.resource.name);
  const { from, main, text, context } = base(planner, request, 'by-key');
  const conditions = [
    sql`${column(main, '_key')} = ${bind(key)}`,
    ...visibleRows(context, layout, main),
    ...membership(context, query, main),
  ];
  return planned(
    planner,
    dialect.answer(sql`SELECT ${text} AS x FROM ${from} WHERE ${all(conditions)} LIMIT 1`),
  );
}

/** Whether a role sees a media record whose file this is: one row, or none. */
export function planShowsFile(planner: Planner, path: string, role: string): PlannedStatement {
  const { model } = planner;
  const layout = model.layout('Media');
  const bit = model.rules.roles.get(role)?.bit ?? 0;
  const scope = { bit, withholds: false, onlyFloorPlans: false };
  const source = contextSource(planner, { view: { scope }, now: startOf(model.day) });
  const conditions = [sql`r._file = ${bind(path)}`, ...visibleRows(source, layout, 'r')];
  return planned(planner, sql`SELECT 1 FROM ${name(layout.columnsTable)} r WHERE ${all(conditions)} LIMIT 1`);
}

/** How many records match: counted as they are written, as far as nothing but the role and the systems decides. */
export function planCount(planner: Planner, query: RecordQuery): PlannedStatement {
  const counted = countedRows(planner, query);
  if (counted !== undefined) return planned(planner, counted);
  const { from, where } = matchingRows(planner, query);
  const unbounded = query.filter !== undefined || query.search !== undefined;
  const { deadline } = planner.dialect;
  const guards = unbounded && deadline !== undefined ? [deadline] : [];
  return planned(planner, sql`SELECT count(*) AS n FROM ${from} WHERE ${all([...guards, ...where])}`);
}

/** The sum of the counters; undefined where the rows must be looked at. */
function countedRows({ model }: Planner, query: RecordQuery): Sql | undefined {
  const { resource, view, filter, search, under, part, among, after } = query;
  const { bit, systems, onlyFloorPlans } = view.scope;
  const narrower = [filter, search, under, part, among, after].some((each) => each !== undefined);
  if (narrower || (onlyFloorPlans && resource.name === 'Media')) return undefined;
  if (systems !== undefined && resource.name === 'Lookup') return undefined;
  if (!isJudged(model) && movesWithDay(model, resource.name)) return undefined;
  const conditions = [sql`resource = ${bind(resource.name)}`, sql`(visible & ${integer(bit)}) <> 0`];
  if (systems !== undefined && model.layout(resource.name).systemSource !== 'none') {
    conditions.push(sql`system IN (${join(systems.map(bind), ', ')})`);
  }
  return sql`SELECT coalesce(sum(rows), 0) AS n FROM plat_counters WHERE ${all(conditions)}`;
}

/** The ids of all matching records, in order. */
export function planIds(planner: Planner, query: RecordQuery): PlannedStatement {
  const { context, from, where } = matchingRows(planner, query);
  const order = orderOf(context, query, 'r');
  const guards = planner.dialect.deadline === undefined ? [] : [planner.dialect.deadline];
  return planned(
    planner,
    sql`SELECT ${column('r', '_id')} AS id FROM ${from} WHERE ${all([...guards, ...where])} ORDER BY ${order.clause}`,
  );
}
