/** What a read costs before it is made, so that what has no bound holds up nothing that has one. */

import type { RecordQuery, Shape } from '../compile/read.ts';
import type { Expansion } from '../query/request.ts';
import type { OrderTerm } from '../query/tree.ts';

/** Whether writing a record takes as long as its own parts are many: nothing is searched, no list is in a list. */
export const isPlainShape = (shape: Shape): boolean =>
  shape.kind !== 'reso' || (shape.computed.length === 0 && shape.expansions.every(isPlainExpansion));

/** Whether finding the children of one record takes as long as they are many. */
export const isPlainQuery = ({ filter, search, order }: RecordQuery): boolean =>
  filter === undefined && search === undefined && order.every(isPlainTerm);

const isPlainExpansion = ({ query }: Expansion): boolean =>
  query.filter === undefined &&
  query.search === undefined &&
  query.computed.length === 0 &&
  query.expansions.length === 0 &&
  query.order.every(isPlainTerm);

const isPlainTerm = ({ expression }: OrderTerm): boolean => expression.kind === 'field';
