/**
 * Plans the statements for a request for records: pages, single records, counts and lists of ids. A plan is data, which an engine
 * can send to another thread. Only the dialect knows how an engine writes SQL; nothing here runs a statement.
 */
import type { RowScope } from '../access/index.ts';
import type { Field } from '../dictionary/index.ts';
import type { NativeExpansion } from '../query/native/selection.ts';
import { compileFilter } from './candidates.ts';
import {
  type Context,
  type ContextSource,
  makeContext,
  type Planner,
  sameRow,
  visibleRows,
} from './context.ts';
import type { Dialect } from './dialect.ts';
import {
  type EventsPlan,
  eventOrder,
  eventRows,
  isSequencePage,
  planEvent,
  planEvents,
} from './events-plan.ts';
import { childConditions } from './expression.ts';
import {
  all,
  type BoundValue,
  bind,
  column,
  constantText,
  integer,
  join,
  name,
  render,
  type Sql,
  type Statement,
  slot,
  sql,
} from './fragment.ts';
import {
  indexedTable,
  isOneTable,
  ownColumn,
  PUBLISHED_RESOURCES,
  type ResourceLayout,
} from './layout/index.ts';
import { isVisibilityCurrent } from './model.ts';
import { type Order, orderBy } from './order.ts';
import { bindSlots, makePlanCache, planCacheKey } from './plan-cache.ts';
import type {
  BlocksRequest,
  ListPageRequest,
  MergedRequest,
  MergedSource,
  PageRequest,
  RecordQuery,
  RecordRequest,
  ResoShape,
  Shape,
} from './read.ts';
import { type RecordTables, recordTables, useSearchTable } from './record-rows.ts';
import { searchConditions } from './search.ts';
import { type LinkedTexts, linkedTexts } from './text/linked-texts.ts';
import { mergedText } from './text/merged-text.ts';
import { nativeListingText, partConditions, partOrder, partText, primaryPhoto } from './text/native-text.ts';
import { isWhole, needsColumns, resoText } from './text/reso-text.ts';
import { fileAddress, type TextSource } from './text/source.ts';
import { movesWithDay, startOfDay, todaysRules } from './visibility.ts';

export type PlannedStatement = Statement;

/**
 * How to read a page. All statements of a plan run on one snapshot.
 * - `range`: one statement returns the body, the number of rows and the last key, and shows whether a row follows; or `more` does.
 * - `search`: the `find` statements return ids, keys and order values, and run until `limit + 1` rows are found; then `body`
 *   returns the body for the ids.
 * - `rows`: as in events-plan.ts.
 * - `list`: `body` returns the body for ids that are known, and `look` determines which of these have no row, and the last row of
 *   the page.
 * If a body has placeholders for agents and offices, `linked` describes them.
 */
export type PagePlan =
  | {
      readonly kind: 'range';
      readonly linked?: LinkedTexts | undefined;
      readonly limit: number;
      readonly page: PlannedStatement;
      readonly more?: PlannedStatement;
      readonly isJoined?: true;
    }
  | {
      readonly kind: 'search';
      readonly linked?: LinkedTexts | undefined;
      readonly find: readonly PlannedStatement[];
      readonly limit: number;
      readonly body: PlannedStatement;
    }
  | EventsPlan
  | {
      readonly kind: 'list';
      readonly linked?: LinkedTexts | undefined;
      readonly ids: Uint32Array;
      readonly limit: number;
      /**
       * Returns, in one row, the positions of those ids that no longer belong to a visible row, joined by commas (usually none),
       * and the row of the slot `id`, if it exists.
       */
      readonly look: PlannedStatement;
      readonly body: PlannedStatement;
    };

/** A row of a `find` statement: id, key, then the values of the order terms. */
export type FoundRow = readonly [id: number, key: string, ...values: BoundValue[]];

export function contextSource(
  planner: Planner,
  query: { readonly view: { readonly scope: RowScope }; readonly now: string },
): ContextSource {
  const { dialect, model, damaged } = planner;
  const source = { dialect, model, damaged, rows: query.view.scope, now: query.now };
  return isVisibilityCurrent(model) ? source : { ...source, todaysRules: todaysRules(planner) };
}

export const renderStatement = ({ dialect }: Planner, statement: Sql): PlannedStatement =>
  render(statement, dialect.placeholder);

/**
 * Plans a page: one statement if the page is a range of keys, otherwise statements that find the rows and then read their texts.
 */
export function planPage(planner: Planner, request: PageRequest): PagePlan {
  if (request.query.resource.fromChanges) return planEvents(planner, request);
  return isByKey(request) ? planRange(planner, request) : planSearch(planner, request);
}

/** Whether the page is a range of keys, so that no rows have to be found first. */
export function isByKey({ query, position }: Pick<PageRequest, 'query' | 'position'>): boolean {
  const { resource, filter, search, order, part, under } = query;
  if (resource.fromChanges) return isSequencePage({ query, position });
  const isWhole = [filter, search, part, under].every((each) => each === undefined) && order.length === 0;
  return isWhole && position.kind !== 'offset';
}

/** The tables that records are read from, and the text of each record. */
interface RecordSource {
  readonly from: Sql;
  /** The conditions that join the tables, if the FROM clause does not. */
  readonly joined: readonly Sql[];
  /** The alias of a table with an index on ids. */
  readonly ids: string;
  /** The alias of the table whose key and visibility the conditions use. */
  readonly main: string;
  /** The aliases of all tables with the key, for conditions that each of them needs. */
  readonly keyed: readonly string[];
  readonly context: Context;
  readonly text: Sql;
}

const COLUMNS_ALIAS = 'r';

/** If texts are in the same table as the columns, they have the same alias. */
const textsAlias = (layout: ResourceLayout): string => (isOneTable(layout) ? COLUMNS_ALIAS : 't');

/** Expansions that contain only columns of the listing itself. */
const FROM_COLUMNS: ReadonlySet<NativeExpansion> = new Set(['CustomFields', 'Supplement']);

type Tables = 'texts' | 'columns' | 'both' | 'search';

function tablesFor(shape: Shape, layout: ResourceLayout): Tables {
  switch (shape.kind) {
    case 'reso':
      if (!isWhole(shape)) return isCoveredBySearchTable(shape, layout) ? 'search' : 'columns';
      return needsColumns({ layout }, shape) ? 'both' : 'texts';
    case 'native-listing':
      return isWhole(shape) && !shape.expansions.some((each) => FROM_COLUMNS.has(each)) ? 'texts' : 'both';
    case 'native-part':
      return 'texts';
  }
}

/** Whether the search table has all fields that a selection shows. */
function isCoveredBySearchTable(shape: ResoShape, { search, resource }: ResourceLayout): boolean {
  const { selection, control, computed, expansions } = shape;
  const isPlain = !selection.all && control === undefined && computed.length + expansions.length === 0;
  const isThere = (field: Field): boolean =>
    search?.columns.has(ownColumn(resource, field) ?? field.name) === true;
  return isPlain && selection.fields.every(isThere);
}

export function recordSource(
  planner: Planner,
  { query, shape, files }: PageRequest | ListPageRequest | RecordRequest | BlocksRequest,
  find: 'by-key' | 'by-id',
  linked?: LinkedTexts,
): RecordSource {
  const source = contextSource(planner, query);
  const layout = planner.model.layout(query.resource.name);
  const texts = textsAlias(layout);
  const needed = tablesFor(shape, layout);
  // Only the tables of texts and of searches have an index on ids, which leads to the columns.
  const tables = needed === 'columns' && find === 'by-id' ? 'both' : needed;
  const scopeAlias = needed === 'texts' ? texts : COLUMNS_ALIAS;
  const main = needed === 'columns' || needed === 'search' ? COLUMNS_ALIAS : texts;
  const context = makeContext(source, scopeAlias, layout.resource.name);
  if (needed === 'search') useSearchTable(context, layout, COLUMNS_ALIAS);
  const whole = shape.kind === 'native-part' || isWhole(shape);
  const textSource: TextSource = {
    context,
    view: query.view,
    layout,
    alias: whole ? texts : COLUMNS_ALIAS,
    texts,
    files: fileAddress(files),
    marksLinks: linked !== undefined,
  };
  const text = recordText(textSource, shape);
  return {
    ...(tables === 'search'
      ? recordTables(context, layout, COLUMNS_ALIAS)
      : { from: fromTables(source.dialect, tables, layout), joined: [] }),
    ids: needed === 'search' ? COLUMNS_ALIAS : texts,
    main,
    keyed: tables === 'both' && !isOneTable(layout) ? [texts, COLUMNS_ALIAS] : [main],
    context,
    text,
  };
}

function fromTables(dialect: Dialect, tables: Exclude<Tables, 'search'>, layout: ResourceLayout): Sql {
  const alias = textsAlias(layout);
  const texts = sql`${name(layout.textsTable)} ${name(alias)}`;
  if (isOneTable(layout) || tables === 'texts') return texts;
  const columns = sql`${name(layout.columnsTable)} ${name(COLUMNS_ALIAS)}`;
  if (tables === 'columns') return columns;
  return sql`${texts} JOIN ${columns} ON ${sameRow(dialect, layout, COLUMNS_ALIAS, alias)}`;
}

function recordText(source: TextSource, shape: Shape): Sql {
  switch (shape.kind) {
    case 'reso':
      return resoText(source, shape);
    case 'native-listing':
      return nativeListingText(source, shape);
    case 'native-part':
      return partText(source, {
        ...shape,
        ...(shape.listing === undefined
          ? {}
          : { primary: sql`(${primaryPhoto(source.context, bind(shape.listing))})` }),
        namesListing: shape.listing === undefined,
      });
  }
}

/** The conditions of a query for the records of a parent or of a sub-resource. */
function parentConditions(
  context: Context,
  { under, part }: Pick<RecordQuery, 'under' | 'part'>,
  alias: string,
): Sql[] {
  const conditions: Sql[] = [];
  if (under !== undefined) {
    const { navigation, key } = under;
    conditions.push(...childConditions(context, navigation, alias, bind(key)));
  }
  if (part !== undefined) conditions.push(...partConditions(part, alias));
  return conditions;
}

type RangePlan = PagePlan & { readonly kind: 'range' };

const rangePlans = makePlanCache<RangePlan>(({ page, more }) => [page, more]);

function planRange(planner: Planner, request: PageRequest): PagePlan {
  const { query, position, limit, shape } = request;
  const plain = planCacheKey(planner, query, shape);
  const name = plain && `${plain} ${limit} ${'key' in position}`;
  const plan = rangePlans(name, () => composeRange(planner, request));
  return 'key' in position ? { ...plan, page: bindSlots(plan.page, { 'after-key': position.key }) } : plan;
}

function composeRange(planner: Planner, request: PageRequest): RangePlan {
  const linked = linkedTextsOf(planner, request);
  const { query, position, limit } = request;
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const { from, joined, main, keyed, text } = recordSource(planner, request, 'by-key', linked);
  const visible = [...joined, ...visibleRows(contextSource(planner, query), layout, main)];
  const key = column(main, '_key');
  // A merge join of two partitioned tables needs the lower bound of the key on both.
  const begins = dialect.sameSystem === undefined ? [main] : keyed;
  const after =
    'key' in position ? begins.map((alias) => sql`${column(alias, '_key')} > ${slot('after-key')}`) : [];
  const rows = sql`SELECT ${key} AS k, ${rowText(dialect, text, linked)} FROM ${from} WHERE ${all([...visible, ...after])} ORDER BY ${key}`;
  const { page, more, isJoined } = dialect.page(rows, limit, isSmall(request.shape), (last) =>
    followingRow(planner, query, last),
  );
  const plan = {
    kind: 'range',
    linked,
    limit,
    page: renderStatement(planner, page),
    isJoined,
  } as const;
  return more === undefined ? plan : { ...plan, more: renderStatement(planner, more) };
}

/** The text of each row of a page. */
export const rowText = (dialect: Dialect, text: Sql, linked: LinkedTexts | undefined): Sql =>
  linked === undefined ? sql`${text} AS x` : dialect.markedText(text);

/** Whether a response contains only some of the fields of each record. */
const isSmall = (shape: Shape): boolean =>
  shape.kind !== 'native-part' && !isWhole(shape) && shape.expansions.length === 0;

/** Selects the key of the first row after a key, if there is one. */
export function followingRow(planner: Planner, query: RecordQuery, last: Sql): Sql {
  const layout = planner.model.layout(query.resource.name);
  const later = all([
    ...visibleRows(contextSource(planner, query), layout, 'r'),
    sql`${column('r', '_key')} > ${last}`,
  ]);
  return sql`SELECT ${column('r', '_key')} AS more FROM ${name(indexedTable(layout))} r WHERE ${later} LIMIT 1`;
}

/** The rows that a query selects, under alias `r`. */
interface MatchingRows {
  readonly context: Context;
  readonly order: Order;
  readonly where: readonly Sql[];
  /** Those of the conditions that call functions for each row, of whose arguments the driver keeps copies (`Dialect.kept`). */
  readonly calling: readonly Sql[];
  /**
   * The tables of the rows. Must be called after all conditions have been compiled, since the columns that they use determine the
   * tables.
   */
  readonly tables: () => RecordTables;
}

/**
 * @param onlyVisible whether only rows that the role sees match; false for a list of ids, since each page checks this again
 * @param ids of the rows, as a JSON list, if they are known; absent: those of the query, if it has any
 */
export function matchingRows(
  planner: Planner,
  query: RecordQuery,
  onlyVisible: boolean,
  ids = query.among === undefined ? undefined : bind(JSON.stringify([...query.among])),
): MatchingRows {
  if (query.resource.fromChanges) {
    const { context, from, where } = eventRows(planner, query);
    const order = eventOrder(context, query.order);
    return { context, order, where, calling: [], tables: () => ({ from, joined: [] }) };
  }
  const layout = planner.model.layout(query.resource.name);
  const context = makeContext(contextSource(planner, query), 'r', query.resource.name);
  useSearchTable(context, layout, 'r');
  const order = orderOf(context, query, 'r');
  const { filter, search, after } = query;
  const filters = filter === undefined ? [] : compileFilter(context, layout, filter, query.order);
  const perRow = filters.filter(({ isPerRow }) => isPerRow).map(({ condition }) => condition);
  if (search !== undefined) perRow.push(...searchConditions(context, query.view, layout, search));
  const { kept } = planner.dialect;
  const calling = kept === undefined ? [] : perRow.filter(kept.by);
  // The role sees most rows, so what the filter compares excludes more of them.
  const conditions = filters.map(({ condition }) => condition).filter((each) => !calling.includes(each));
  const compared = new Set(conditions);
  conditions.push(
    ...(onlyVisible ? visibleRows(context, layout, 'r') : []),
    ...parentConditions(context, query, 'r'),
  );
  if (after !== undefined) {
    const ranges = order.after(after.values, after.key);
    conditions.push(sql`(${join(ranges, ' OR ')})`);
  }
  conditions.push(...perRow.filter((each) => !compared.has(each)));
  const tables = (): RecordTables => {
    const found = recordTables(context, layout, 'r');
    return ids === undefined ? found : restrictToIds(planner.dialect, found, ids);
  };
  return { context, order, where: conditions, calling, tables };
}

/**
 * Selects the ids of the matching rows, in any order, if conditions call functions and the driver keeps what it passes to them: the
 * statement then also returns rows without an id. SQLite does not evaluate a condition again outside of a subquery with a limit.
 */
function scanRows({ dialect }: Planner, { where, calling, tables }: MatchingRows): Sql | undefined {
  const { kept } = dialect;
  if (kept === undefined || calling.length === 0) return undefined;
  const { from, joined } = tables();
  const others = where.filter((each) => !calling.includes(each));
  const rows = sql`SELECT ${column('r', '_id')} AS id, ${all(calling)} AS ok FROM ${from} WHERE ${all([...deadlineOf(dialect), ...joined, ...others])}${dialect.noLimit}`;
  return sql`SELECT CASE WHEN q.ok THEN CAST(q.id AS TEXT) END AS id FROM (${rows}) q WHERE q.ok OR ${kept.isMuch(column('q', 'id'))}`;
}

/**
 * The rows of alias `r` with some ids, in tables that have an index on ids: the engine looks up each of them, whatever the other
 * conditions are. An ORDER BY could make an engine read the whole table.
 */
function restrictToIds(dialect: Dialect, { from, joined }: RecordTables, ids: Sql): RecordTables {
  return {
    from: sql`${dialect.integerTable(ids, 'j')} CROSS JOIN ${from}`,
    joined: [sql`r._id = j.value`, ...joined],
  };
}

/** Fails a statement over many rows once its time is up. @param id the id of a row; absent: of the rows `r` */
export const deadlineOf = ({ deadline }: Dialect, id: Sql = column('r', '_id')): readonly Sql[] =>
  deadline === undefined ? [] : [deadline.ofRows(id)];

function planSearch(planner: Planner, request: PageRequest): PagePlan {
  const { query, position, limit } = request;
  const { dialect } = planner;
  const { order, where, tables } = matchingRows(planner, query, true);
  const { from, joined } = tables();
  const columns = join(foundColumns('r', order.values), ', ');
  const guards = deadlineOf(dialect);
  const offset = position.kind === 'offset' ? sql` OFFSET ${bind(position.skip)}` : sql``;
  const ranges = rangesOf(position, order);
  const find = ranges.map((range) =>
    renderStatement(
      planner,
      sql`SELECT ${columns} FROM ${from} WHERE ${all([...guards, ...joined, ...where, ...range])} ORDER BY ${order.clause} LIMIT ${slot('limit')}${offset}`,
    ),
  );
  return { kind: 'search', find, limit, ...planBody(planner, request) };
}

/** The columns of a found row. Each has its own name, even if an order term occurs twice. */
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

/** The texts of rows by their ids, in the order of the ids; rows that are not visible are omitted. */
function planBody(
  planner: Planner,
  request: PageRequest | ListPageRequest,
): { readonly body: PlannedStatement; readonly linked: LinkedTexts | undefined } {
  const linked = linkedTextsOf(planner, request);
  const { dialect, model } = planner;
  const { query } = request;
  const layout = model.layout(query.resource.name);
  const { from, joined, main, ids: idTable, text } = recordSource(planner, request, 'by-id', linked);
  const visible = [...joined, ...visibleRows(contextSource(planner, query), layout, main)];
  const ids = dialect.integerTable(slot('ids'), 'j');
  const match = sql`${column(idTable, '_id')} = ${column('j', 'value')}`;
  const rows = sql`SELECT ${rowText(dialect, text, linked)} FROM ${ids} CROSS JOIN ${from} WHERE ${all([match, ...visible])}${dialect.inListOrder('j')}${dialect.limit(slot('limit'))}`;
  return { body: renderStatement(planner, dialect.selectTexts(rows)), linked };
}

/**
 * The links that the placeholders of a page refer to. A single record has no placeholders: its statement inserts its own agents and
 * offices, since a second statement would take longer.
 */
export function linkedTextsOf(
  planner: Planner,
  { query, shape }: PageRequest | ListPageRequest | BlocksRequest,
): LinkedTexts | undefined {
  if (!mayContainListings(query.resource.name, shape)) return undefined;
  const omitNulls = shape.kind === 'reso' && shape.omitNulls;
  return linkedTexts(planner, query.view, planner.model.layout('Property'), omitNulls);
}

/** Whether a text of this shape may contain a whole listing with its agents and offices. */
function mayContainListings(resource: string, shape: Shape): boolean {
  switch (shape.kind) {
    case 'native-part':
      return false;
    case 'native-listing':
      return isWhole(shape);
    case 'reso':
      return shape.ownOnly !== true && ((resource === 'Property' && isWhole(shape)) || leadToListings(shape));
  }
}

const leadToListings = ({ expansions }: Pick<ResoShape, 'expansions'>): boolean =>
  expansions.some(({ navigation, query }) => navigation.target === 'Property' || leadToListings(query));

type ListPlan = Omit<PagePlan & { readonly kind: 'list' }, 'ids' | 'limit'>;

const listPlans = makePlanCache<ListPlan>(({ look, body }) => [look, body]);

/** Plans a page of a list of ids that an earlier search found. */
export function planList(planner: Planner, request: ListPageRequest): PagePlan {
  const { query, ids, limit, shape } = request;
  const name = query.order.length === 0 ? planCacheKey(planner, query, shape) : undefined;
  return { ...listPlans(name, () => composeList(planner, request)), ids, limit };
}

function composeList(planner: Planner, request: ListPageRequest): ListPlan {
  const { query } = request;
  const layout = planner.model.layout(query.resource.name);
  const context = makeContext(contextSource(planner, query), 'r', query.resource.name);
  useSearchTable(context, layout, 'r');
  const order = orderOf(context, query, 'r');
  const columns = join(foundColumns('r', order.values), ', ');
  const { from, joined } = recordTables(context, layout, 'r');
  const last = all([sql`r._id = ${slot('id')}`, ...joined, ...visibleRows(context, layout, 'r')]);
  const row = sql`SELECT ${columns} FROM ${from} WHERE ${last}`;
  const look = sql`SELECT g.gone, l.* FROM (${selectGoneIds(planner, query)}) g LEFT JOIN (${row}) l ON TRUE`;
  return { kind: 'list', look: renderStatement(planner, look), ...planBody(planner, request) };
}

/**
 * Selects the positions of ids that belong to no row that the role sees. Each id is looked up separately, since a join might make
 * an engine read the whole table.
 */
function selectGoneIds(planner: Planner, query: RecordQuery): Sql {
  const { dialect, model } = planner;
  const layout = model.layout(query.resource.name);
  const context = makeContext(contextSource(planner, query), 'r', query.resource.name);
  useSearchTable(context, layout, 'r');
  const visible = visibleRows(context, layout, 'r');
  const { from, joined } = recordTables(context, layout, 'r');
  const found = sql`SELECT 1 FROM ${from} WHERE ${all([sql`r._id = j.value`, ...joined, ...visible])} LIMIT 1`;
  const positions = dialect.aggregateIntegers(sql`j.position`);
  return sql`SELECT ${positions} AS gone FROM ${dialect.integerTable(slot('ids'), 'j')} WHERE (${found}) IS NULL`;
}

/** Plans the read of one record by key: its text, or no row. */
export function planRecord(planner: Planner, request: RecordRequest): PlannedStatement {
  const { query, key, shape } = request;
  if (query.resource.fromChanges) return planEvent(planner, request);
  return bindSlots(
    recordPlans(planCacheKey(planner, query, shape), () => composeRecord(planner, request)),
    { key },
  );
}

const recordPlans = makePlanCache<PlannedStatement>((plan) => [plan]);

function composeRecord(planner: Planner, request: RecordRequest): PlannedStatement {
  const { dialect, model } = planner;
  const { query } = request;
  const layout = model.layout(query.resource.name);
  const { from, joined, main, text, context } = recordSource(planner, request, 'by-key');
  const conditions = [
    ...joined,
    sql`${column(main, '_key')} = ${slot('key')}`,
    ...visibleRows(context, layout, main),
    ...parentConditions(context, query, main),
  ];
  return renderStatement(
    planner,
    dialect.selectTexts(sql`SELECT ${text} AS x FROM ${from} WHERE ${all(conditions)} LIMIT 1`),
  );
}

/** Plans the check whether a role sees a media record with this file: one row, or none. */
export function planShowsFile(planner: Planner, path: string, role: string): Sql {
  const { model } = planner;
  const layout = model.layout('Media');
  const bit = model.rules.roles.get(role)?.bit ?? 0;
  const scope = { bit, withholds: false, onlyFloorPlans: false };
  const source = contextSource(planner, { view: { scope }, now: startOfDay(model.day) });
  const conditions = [sql`r._file = ${bind(path)}`, ...visibleRows(source, layout, 'r')];
  return sql`SELECT 1 FROM ${name(layout.columnsTable)} r WHERE ${all(conditions)} LIMIT 1`;
}

/** A statement that returns a count, or one that returns the ids that have to be counted. */
export interface CountPlan extends PlannedStatement {
  readonly isScan?: true;
}

/**
 * Plans the count of matching records, or, for a list of ids after a position, of all its records that still exist. If only the
 * role and the systems restrict the rows, the counters that writes maintain answer.
 */
export function planCount(planner: Planner, query: RecordQuery): CountPlan {
  const counted = countedRows(planner, query);
  if (counted !== undefined) return renderStatement(planner, counted);
  const isListPosition = query.among !== undefined && query.after !== undefined;
  const matching = matchingRows(planner, query, !isListPosition);
  const scan = scanRows(planner, matching);
  if (scan !== undefined) return { ...renderStatement(planner, scan), isScan: true };
  const { where, tables } = matching;
  const { from, joined } = tables();
  const { resource, filter, search } = query;
  const unbounded = filter !== undefined || search !== undefined || resource.fromChanges === true;
  const guards = unbounded ? deadlineOf(planner.dialect) : [];
  return renderStatement(
    planner,
    sql`SELECT count(*) AS n FROM ${from} WHERE ${all([...guards, ...joined, ...where])}`,
  );
}

/** The sum of the counters; undefined if the rows must be counted. */
function countedRows({ model }: Planner, query: RecordQuery): Sql | undefined {
  const { resource, view, filter, search, under, part, among, after } = query;
  const { bit, systems, onlyFloorPlans } = view.scope;
  const isRestricted = [filter, search, under, part, among, after].some((each) => each !== undefined);
  if (isRestricted || resource.fromChanges || (onlyFloorPlans && resource.name === 'Media')) return undefined;
  if (systems !== undefined && resource.name === 'Lookup') return undefined;
  if (!isVisibilityCurrent(model) && movesWithDay(model, resource.name)) return undefined;
  const conditions = [sql`resource = ${bind(resource.name)}`, sql`(visible & ${integer(bit)}) <> 0`];
  if (systems !== undefined && model.layout(resource.name).systemSource !== 'none') {
    conditions.push(sql`system IN (${join(systems.map(bind), ', ')})`);
  }
  return sql`SELECT coalesce(sum(rows), 0) AS n FROM plat_counters WHERE ${all(conditions)}`;
}

/**
 * Plans the list of the ids of all matching records, in order, joined by commas in one row; for a list of ids, those that still
 * exist. Only the sorted subquery contains the order terms, so that nothing but ids leaves the engine.
 * The row has the ids as `ids`, or as `groups` of ids that are equal in all values, joined by semicolons, each group in reverse:
 * an index in ascending order, with the key as its last column, can then be read from its end for the descending order.
 */
export function planIds(planner: Planner, query: RecordQuery): IdsPlan {
  const matching = matchingRows(planner, query, query.among === undefined);
  const scan = scanRows(planner, matching);
  if (scan === undefined) return sortedIds(planner, query, matching);
  const { filter: _, search: __, ...others } = query;
  const found = matchingRows(planner, others, false, slot('ids'));
  return { ...sortedIds(planner, query, found), scan: renderStatement(planner, scan) };
}

/** A statement that returns ids in order: of the matching records, or of the slot `ids`, once `scan` has found them. */
export interface IdsPlan extends PlannedStatement {
  readonly scan?: PlannedStatement;
}

function sortedIds(planner: Planner, query: RecordQuery, rows: MatchingRows): PlannedStatement {
  const { dialect } = planner;
  const { order, where, tables } = rows;
  const { from, joined } = tables();
  const matching = all([...deadlineOf(dialect), ...joined, ...where]);
  const sorted = (columns: readonly Sql[], by: Sql): Sql =>
    sql`SELECT ${join(columns, ', ')} FROM ${from} WHERE ${matching} ORDER BY ${by}`;
  const id = sql`${column('r', '_id')} AS id`;
  const ids = dialect.aggregateIntegers(sql`q.id`);
  const isByKey = query.order.length === 0 && query.part === undefined;
  const by = isByKey && isScattered(planner, query) ? sql`+${order.clause}` : order.clause;
  const isReversed = query.order.length > 0 && query.order.every(({ descending }) => descending);
  if (!dialect.sortsTies || !isReversed) {
    return renderStatement(planner, sql`SELECT ${ids} AS ids FROM (${sorted([id], by)}) q`);
  }
  const ordered = sorted([id, ...orderColumns(order.values)], order.tiesReversed);
  const terms = order.values.map((_, index) => sql`q.${name(`o${index}`)}`);
  const descending = terms.map((term) => dialect.order(term, true));
  const groups = sql`SELECT ${ids} AS g FROM (${ordered}) q GROUP BY ${join(terms, ', ')} ORDER BY ${join(descending, ', ')}`;
  return renderStatement(
    planner,
    sql`SELECT ${dialect.aggregateTexts(sql`g`, ';')} AS groups FROM (${groups}) t`,
  );
}

/**
 * Whether the rows of a resource are in another order than that of their keys, and the engine would nevertheless read all of them
 * in key order, by an index, instead of sorting those that match: each row that it reads is then in another page.
 */
function isScattered({ dialect, model }: Planner, { resource }: RecordQuery): boolean {
  if (dialect.sortsLookups || model.layout(resource.name).search !== undefined) return false;
  return resource.parent !== undefined || PUBLISHED_RESOURCES.has(resource.name);
}

/**
 * Plans a page of several resources in one order: the order terms that all queries share, then key, then resource. Only the rows of
 * the page are written, and of each resource at most as many are ordered as the page may reach.
 */
export function planMerged(planner: Planner, request: MergedRequest): PlannedStatement {
  const { dialect } = planner;
  const { limit, skip } = request;
  const terms = request.sources[0]?.query.order ?? [];
  const columns = [...terms.map((_, index) => name(`o${index}`)), sql`k`, sql`u`];
  const ordered = terms.map(({ descending }, index) => dialect.order(name(`o${index}`), descending));
  const order = join([...ordered, sql`k`, sql`u`], ', ');
  const sources = request.sources.map(({ query }) => sourceRows(planner, query, skip + limit));
  const found = sql`SELECT ${join(columns, ', ')} FROM (${join(sources, ' UNION ALL ')}) m ORDER BY ${order} LIMIT ${bind(limit)} OFFSET ${bind(skip)}`;
  const texts = request.sources.map((source) => sourceText(planner, request, source));
  const rows = sql`SELECT CASE u ${join(texts, ' ')} END AS x FROM (${found}) p ORDER BY ${order}`;
  return render(dialect.selectTexts(rows), dialect.placeholder);
}

/** The first rows of a resource: order terms, key and resource. */
function sourceRows(planner: Planner, query: RecordQuery, most: number): Sql {
  const { order, where, tables } = matchingRows(planner, query, true);
  const resource = constantText(query.resource.name);
  const columns = [sql`${column('r', '_key')} AS k`, sql`${resource} AS u`, ...orderColumns(order.values)];
  const { from, joined } = tables();
  const rows = sql`SELECT ${join(columns, ', ')} FROM ${from} WHERE ${all([...joined, ...where])}`;
  return sql`SELECT * FROM (${rows} ORDER BY ${order.clause} LIMIT ${bind(most)}) s`;
}

/** The text of the row of a page `p` that belongs to this source. */
function sourceText(planner: Planner, { files }: MergedRequest, source: MergedSource): Sql {
  const { filter: _, search: __, ...query } = source.query;
  const { context, where, tables } = matchingRows(planner, query, true);
  const text = mergedText(context, source, fileAddress(files));
  const { from, joined } = tables();
  const match = all([sql`${column('r', '_key')} = p.k`, ...joined, ...where]);
  return sql`WHEN ${constantText(query.resource.name)} THEN (SELECT ${text} FROM ${from} WHERE ${match} LIMIT 1)`;
}

function orderOf(
  context: Context,
  { order, part }: Pick<RecordQuery, 'order' | 'part'>,
  alias: string,
): Order {
  const key = column(alias, '_key');
  const isOfPart = part !== undefined && order.length === 0;
  return orderBy(context, order, key, isOfPart ? partOrder(context.dialect, part, alias) : [key]);
}
