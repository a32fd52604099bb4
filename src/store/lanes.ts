/**
 * Which lane reads what, decided by what a read may cost before it is made, so that work without a bound never holds up
 * work that has one. It knows neither threads nor connections.
 */
import { isByKey } from '../compile/page-plan.ts';
import type { ListPageRequest, PageRequest, RecordQuery, RecordRequest, Shape } from '../compile/read.ts';
import type { Expansion } from '../query/request.ts';
import type { OrderTerm } from '../query/tree.ts';
import type { Lane } from './read-caller.ts';

/** The children of one record are few. A page of keys is as long as its limit; all else, `$skip` included, may scan. */
export function laneOfPage(request: PageRequest): Lane {
  const { query, shape } = request;
  if (!isPlainShape(shape)) return 'searches';
  if (query.under !== undefined) return isPlainQuery(query) ? 'records' : 'searches';
  return isByKey(request) ? 'pages' : 'searches';
}

export const laneOfList = ({ shape }: ListPageRequest): Lane => (isPlainShape(shape) ? 'pages' : 'searches');

export const laneOfRecord = ({ shape }: RecordRequest): Lane =>
  isPlainShape(shape) ? 'records' : 'searches';

/** Counters answer a count that nothing narrows but the role. */
export function laneOfCount(query: RecordQuery): Lane {
  if (!isPlainQuery(query)) return 'searches';
  if (query.under !== undefined) return 'records';
  return query.part === undefined ? 'pages' : 'searches';
}

/** Whether writing a record takes as long as its own parts are many: nothing is searched, no list is in a list. */
const isPlainShape = (shape: Shape): boolean =>
  shape.kind !== 'reso' || (shape.computed.length === 0 && shape.expansions.every(isPlainExpansion));

/** Whether finding the children of one record takes as long as they are many. */
const isPlainQuery = ({ filter, search, order }: RecordQuery): boolean =>
  filter === undefined && search === undefined && order.every(isPlainTerm);

const isPlainExpansion = ({ query }: Expansion): boolean =>
  query.filter === undefined &&
  query.search === undefined &&
  query.computed.length === 0 &&
  query.expansions.length === 0 &&
  query.order.every(isPlainTerm);

const isPlainTerm = ({ expression }: OrderTerm): boolean => expression.kind === 'field';
