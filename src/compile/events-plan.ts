/**
 * Plans the statements for a request for EntityEvent (RESO RCP-27). Its records are the entries of the sequence of changes, which
 * are in no table of records: pages, bounds and visibility are those of the sequence. It must not know how a response is written,
 * nor how long entries are kept.
 */
import { EVENT } from '../dictionary/index.ts';
import { type ComparisonOperator, type Expression, MIRRORED, type OrderTerm } from '../query/tree.ts';
import { visibleEntries } from './change-entries.ts';
import { type Context, makeContext, type Planner } from './context.ts';
import { compileCondition } from './expression.ts';
import { all, bind, column, join, name, render, type Sql, type Statement, slot, sql } from './fragment.ts';
import { type Order, orderBy } from './order.ts';
import type { PageRequest, Position, RecordQuery, RecordRequest, Shape } from './read.ts';
import { resoText } from './text/reso-text.ts';
import { fileAddress } from './text/source.ts';

/**
 * How to read a page of entries: the statements return the key `k`, the text `x` and the order values of each row, and run
 * until `limit + 1` rows are found.
 */
export interface EventsPlan {
  readonly kind: 'rows';
  readonly linked?: undefined;
  readonly find: readonly Statement[];
  /** The number of order values: `o0`, `o1`, … */
  readonly values: number;
  readonly limit: number;
}

/** The number of an entry in the sequence. */
const NUMBER = column('r', '_id');

/** A bound number of an entry, in the type that lets the engine use the index. */
const bindNumber = (number: number): Sql => sql`CAST(${bind(number)} AS BIGINT)`;

type EventsQuery = Pick<RecordQuery, 'view' | 'resource' | 'filter' | 'order' | 'now'>;

export function planEvents(
  planner: Planner,
  { query, position, limit, shape, files }: PageRequest,
): EventsPlan {
  const { context, from, where } = eventRows(planner, query);
  const text = entryText(planner, context, query, shape, files);
  const order = eventOrder(context, query.order);
  const columns = [
    sql`CAST(${NUMBER} AS TEXT) AS k`,
    sql`${text} AS x`,
    ...order.values.map((value, index) => sql`${value} AS ${name(`o${index}`)}`),
  ];
  const offset = position.kind === 'offset' ? sql` OFFSET ${bind(position.skip)}` : sql``;
  const { deadline } = planner.dialect;
  const guards = deadline === undefined ? [] : [deadline.ofRows(NUMBER)];
  const find = rangesOf(position, order).map((range) =>
    renderStatement(
      planner,
      sql`SELECT ${join(columns, ', ')} FROM ${from} WHERE ${all([...range, ...guards, ...where])} ORDER BY ${order.clause} LIMIT ${slot('limit')}${offset}`,
    ),
  );
  return { kind: 'rows', find, values: order.values.length, limit };
}

/** Plans the read of one entry by its number: its text, or no row. */
export function planEvent(planner: Planner, { query, key, shape, files }: RecordRequest): Statement {
  const { context, from, where } = eventRows(planner, query);
  const text = entryText(planner, context, query, shape, files);
  const isThis = sql`${NUMBER} = ${bindNumber(parseEntryNumber(key) ?? 0)}`;
  return renderStatement(
    planner,
    planner.dialect.selectTexts(
      sql`SELECT ${text} AS x FROM ${from} WHERE ${all([isThis, ...where])} LIMIT 1`,
    ),
  );
}

/** Parses the number of an entry; undefined if the text is not one. */
export const parseEntryNumber = (key: string): number | undefined =>
  /^\d{1,19}$/.test(key) && Number.isSafeInteger(Number(key)) ? Number(key) : undefined;

/**
 * Whether the page is a range of the sequence, read in its order. Entries that the role does not see are skipped, so this is
 * efficient only if most of them are visible.
 */
export const isSequencePage = ({ query, position }: Pick<PageRequest, 'query' | 'position'>): boolean =>
  boundsOf(query.filter).isAll && position.kind !== 'offset' && isInSequence(query.order);

/** The number of the entry after which a filter requests all entries; 0 if it requests them from the beginning. */
export const lowerBound = (filter: Expression | undefined): number => boundsOf(filter).since;

const renderStatement = ({ dialect }: Planner, statement: Sql): Statement =>
  render(statement, dialect.placeholder);

/** The rows `r` that a query selects, with the same columns as a table of records. */
export function eventRows(planner: Planner, { view, resource, filter, now }: Omit<EventsQuery, 'order'>) {
  const { dialect, model, damaged } = planner;
  const { scope } = view;
  // The visibility of an entry does not depend on its fields.
  const rows = { ...scope, withholds: false };
  const context = makeContext({ dialect, model, damaged, rows, now }, 'r', resource.name);
  const { after, upTo, isAll } = boundsOf(filter);
  const number = sql`c.seq`;
  const bounds = [
    ...(after > 0 ? [sql`${number} > ${bindNumber(after)}`] : []),
    ...(upTo < LAST ? [sql`${number} <= ${bindNumber(upTo)}`] : []),
  ];
  const where = all([...bounds, ...visibleEntries(model, scope)]);
  const columns = [
    sql`${number} AS ${name('_id')}`,
    // In the form in which columns store the type.
    sql`${dialect.cast('decimal', 'integer', number)} AS ${name(EVENT.sequence)}`,
    sql`c.resource AS ${name(EVENT.resource)}`,
    sql`c.key AS ${name(EVENT.key)}`,
    sql`CAST(c.seq AS TEXT) AS ${name('_key')}`,
  ];
  return {
    context,
    from: sql`(SELECT ${join(columns, ', ')} FROM plat_changes c WHERE ${where}) r`,
    where: filter === undefined || isAll ? [] : [compileCondition(context, filter, false)],
  };
}

/** The text of an entry. It is always written from the columns, since there is no stored text. */
function entryText(
  { model }: Planner,
  context: Context,
  { view, resource }: Pick<EventsQuery, 'view' | 'resource'>,
  shape: Shape,
  files: PageRequest['files'],
): Sql {
  if (shape.kind !== 'reso') throw new Error(`${resource.name} has no native form`);
  const { selection } = shape;
  const fields = selection.all ? view.fieldsOf(resource) : selection.fields;
  const source = {
    ...{ context, view, layout: model.layout(resource.name), alias: 'r', texts: 'r' },
    ...{ files: fileAddress(files), marksLinks: false },
  };
  return resoText(source, { ...shape, selection: { ...selection, all: false, fields } });
}

// Order

/** Whether an order is that of the sequence, or the reverse: no two entries have the same number. */
const isInSequence = ([first]: readonly OrderTerm[]): boolean =>
  first === undefined || isNumber(first.expression);

/** The order of the rows `r` of entries. */
export function eventOrder(context: Context, order: readonly OrderTerm[]): Order {
  const { values, ...given } = orderBy(context, order, NUMBER);
  if (!isInSequence(order)) return { values, ...given };
  const descending = order[0]?.descending ?? false;
  const clause = descending ? sql`${NUMBER} DESC` : NUMBER;
  return {
    ...{ values, clause, tiesReversed: clause },
    after: (_, key) => {
      const last = bindNumber(parseEntryNumber(String(key)) ?? 0);
      return [descending ? sql`${NUMBER} < ${last}` : sql`${NUMBER} > ${last}`];
    },
  };
}

function rangesOf(position: Position, order: Order): Sql[][] {
  switch (position.kind) {
    case 'start':
    case 'offset':
      return [[]];
    case 'after-key':
      return order.after([], parseEntryNumber(position.key) ?? 0).map((range) => [range]);
    case 'after-row':
      return order.after(position.values, parseEntryNumber(position.key) ?? 0).map((range) => [range]);
  }
}

// Bounds

/** The part of the sequence that a filter can match: the numbers after one up to and including another. */
interface Bounds {
  readonly after: number;
  readonly upTo: number;
  /** The number after which the filter requests all entries; 0 if it requests them from the beginning, or not all. */
  readonly since: number;
  /** Whether the filter contains no other condition. */
  readonly isAll: boolean;
}

const LAST = Number.MAX_SAFE_INTEGER;
const EVERYTHING: Bounds = { after: 0, upTo: LAST, since: 0, isAll: true };
const UNKNOWN: Bounds = { ...EVERYTHING, isAll: false };

function boundsOf(filter: Expression | undefined): Bounds {
  switch (filter?.kind) {
    case undefined:
      return EVERYTHING;
    case 'and':
      return filter.terms.map(boundsOf).reduce(intersectBounds, EVERYTHING);
    case 'compare': {
      const { left, right, operator } = filter;
      if (isNumber(left)) return comparedWith(operator, right);
      return isNumber(right) ? comparedWith(MIRRORED[operator], left) : UNKNOWN;
    }
    case 'in': {
      const numbers = filter.values.map(({ value }) => value).filter((value) => typeof value === 'number');
      const isList = numbers.length > 0 && numbers.length === filter.values.length;
      if (!isList || !isNumber(filter.operand)) return UNKNOWN;
      return { ...between(Math.min(...numbers), Math.max(...numbers)), isAll: false };
    }
    default:
      return UNKNOWN;
  }
}

const intersectBounds = (one: Bounds, other: Bounds): Bounds => ({
  after: Math.max(one.after, other.after),
  upTo: Math.min(one.upTo, other.upTo),
  since: Math.max(one.since, other.since),
  isAll: one.isAll && other.isAll,
});

function comparedWith(operator: ComparisonOperator, { kind, ...to }: Expression): Bounds {
  const number = kind === 'literal' && 'value' in to ? to.value : undefined;
  if (typeof number !== 'number' || !Number.isFinite(number)) return UNKNOWN;
  const [before, upTo] = [clamped(Math.ceil(number) - 1), clamped(Math.floor(number))];
  switch (operator) {
    case 'gt':
      return { ...EVERYTHING, after: upTo, since: upTo };
    case 'ge':
      return { ...EVERYTHING, after: before, since: before };
    case 'lt':
      return { ...EVERYTHING, upTo: before };
    case 'le':
      return { ...EVERYTHING, upTo };
    case 'eq':
      return between(number, number);
    case 'ne':
      return UNKNOWN;
  }
}

const between = (least: number, greatest: number): Bounds => ({
  ...EVERYTHING,
  after: clamped(Math.ceil(least) - 1),
  upTo: clamped(Math.floor(greatest)),
});

const clamped = (number: number): number => Math.min(Math.max(number, 0), LAST);

/** Whether an expression is the number of an entry. */
const isNumber = (expression: Expression): boolean =>
  expression.kind === 'field' && expression.via.length === 0 && expression.field.name === EVENT.sequence;
