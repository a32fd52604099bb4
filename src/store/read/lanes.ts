/**
 * Determines for whom a store reads, and in which lane: the possible cost of a read decides the lane before the read
 * begins, so that unbounded work never delays bounded work. It knows neither keys nor threads nor connections.
 */
import { isByKey } from '../../compile/page-plan.ts';
import type { ListPageRequest, PageRequest, RecordQuery, RecordRequest, Shape } from '../../compile/read.ts';
import type { Expansion } from '../../query/request.ts';
import type { OrderTerm } from '../../query/tree.ts';

/** Single records, pages, and searches have separate lanes, so that expensive reads never delay cheap ones. */
export type Lane = 'records' | 'pages' | 'searches';

/** On whose behalf the store reads; threads and connections are shared fairly between the names. */
export interface ReadCaller {
  readonly name: string;
  /** Whether the result is only aggregated and never sent. Absent: it is sent. */
  readonly sumsUp?: boolean;
  /** Called just before a read begins, also after it waited. @throws the error with which the read is rejected */
  begin(lane: Lane): void;
  /** Whether nobody would receive the result any more. Absent: never. */
  readonly isGone?: (() => boolean) | undefined;
  /** Reports the memory of a response as soon as it exists. */
  made(bytes: number): void;
  /** Reports how long a read occupied its thread or its connection, in milliseconds. */
  spent(lane: Lane, milliseconds: number): void;
}

/**
 * Whether a body is sent, and so must be valid. An operator's `verify` and `check` must see what is wrong with a body;
 * a body that is only digested differs from a valid one, and is then read again.
 */
export const isSent = (caller: ReadCaller | undefined): boolean =>
  caller !== undefined && caller.sumsUp !== true;

/**
 * One record has few children, and a page of keys, as in a sweep, takes less time than a round trip to another thread.
 * Any other page in key order costs as much as its limit; everything else, including `$skip`, may scan.
 */
export function laneOfPage(request: PageRequest): Lane {
  const { query, shape } = request;
  if (!isPlainShape(shape)) return 'searches';
  if (query.under !== undefined) return isPlainQuery(query) ? 'records' : 'searches';
  if (!isByKey(request)) return 'searches';
  return isKeyShape(shape, query.resource.key) && !query.resource.fromChanges ? 'records' : 'pages';
}

export const laneOfList = ({ shape }: ListPageRequest): Lane => (isPlainShape(shape) ? 'pages' : 'searches');

export const laneOfRecord = ({ shape }: RecordRequest): Lane =>
  isPlainShape(shape) ? 'records' : 'searches';

/** Counters answer a count that only the role restricts, except for entries of the sequence of changes. */
export function laneOfCount(query: RecordQuery): Lane {
  if (!isPlainQuery(query) || query.resource.fromChanges) return 'searches';
  if (query.under !== undefined) return 'records';
  return query.part === undefined ? 'pages' : 'searches';
}

/** Whether the cost of writing a record depends only on its own parts: there is no search, and no list inside a list. */
const isPlainShape = (shape: Shape): boolean =>
  shape.kind !== 'reso' || (shape.computed.length === 0 && shape.expansions.every(isPlainExpansion));

/** Whether only the key of a record is returned. */
const isKeyShape = (shape: Shape, key: string): boolean =>
  shape.kind === 'reso' &&
  !shape.selection.all &&
  shape.selection.fields.every(({ name }) => name === key) &&
  shape.computed.length === 0 &&
  shape.expansions.length === 0;

/** Whether the cost of finding the children of one record depends only on their number. */
const isPlainQuery = ({ filter, search, order }: RecordQuery): boolean =>
  filter === undefined && search === undefined && order.every(isPlainTerm);

const isPlainExpansion = ({ query }: Expansion): boolean =>
  query.filter === undefined &&
  query.search === undefined &&
  query.computed.length === 0 &&
  query.expansions.length === 0 &&
  query.order.every(isPlainTerm);

const isPlainTerm = ({ expression }: OrderTerm): boolean => expression.kind === 'field';
