/**
 * For whom a store reads, and in which lane: what a read may cost decides it before the read begins, so that unbounded work
 * never delays bounded work. It knows neither keys nor threads nor connections.
 */
import { isByKey } from '../compile/page-plan.ts';
import type { ListPageRequest, PageRequest, RecordQuery, RecordRequest, Shape } from '../compile/read.ts';
import type { Expansion } from '../query/request.ts';
import type { OrderTerm } from '../query/tree.ts';

/** Single records, pages, and searches, each in a lane of its own, so that expensive reads never delay cheap ones. */
export type Lane = 'records' | 'pages' | 'searches';

/** On whose behalf the store reads; threads and connections are shared fairly between the names. */
export interface ReadCaller {
  readonly name: string;
  /** Whether what is read is summed up, and none of it is sent. Absent: it is sent. */
  readonly sumsUp?: boolean;
  /** Called just before a read begins, also after it waited in a queue. @throws what the read is refused with */
  begin(lane: Lane): void;
  /** Reports the memory of an answer, as soon as there is one. */
  made(bytes: number): void;
  /** Reports how long a read occupied its thread or its connection, in milliseconds. */
  spent(lane: Lane, milliseconds: number): void;
}

/**
 * Whether a body is sent as it is, and so must be whole. An operator's `verify` and `check` must see what is wrong with a
 * body; a body that is only summed up differs from a whole one, and is then read again as it is.
 */
export const isSent = (caller: ReadCaller | undefined): boolean =>
  caller !== undefined && caller.sumsUp !== true;

/**
 * One record has few children, and a page of keys, as a sweep asks for it, takes less time than the way to another thread
 * and back. Any other page in key order costs as much as its limit; everything else, `$skip` included, may scan.
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

/** Counters answer a count that only the role restricts, but for entries of the sequence of changes. */
export function laneOfCount(query: RecordQuery): Lane {
  if (!isPlainQuery(query) || query.resource.fromChanges) return 'searches';
  if (query.under !== undefined) return 'records';
  return query.part === undefined ? 'pages' : 'searches';
}

/**
 * Whether the cost of writing a record depends only on its own parts: nothing is searched, and no list is inside a
 * list.
 */
const isPlainShape = (shape: Shape): boolean =>
  shape.kind !== 'reso' || (shape.computed.length === 0 && shape.expansions.every(isPlainExpansion));

/** Whether nothing is given of a record but its key. */
export const isKeyShape = (shape: Shape, key: string): boolean =>
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
