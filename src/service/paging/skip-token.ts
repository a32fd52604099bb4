import type { LastRow, Position } from '../../compile/read.ts';
import { platError } from '../../errors/index.ts';
import type { OrderTerm } from '../../query/tree.ts';

/**
 * Where a walk in an order of the client's own goes on: the last row's values and key, and for a walk over a
 * kept list the list and the position in it. In key order the token is the key itself (specification 2.3).
 */
export interface OrderToken {
  readonly row: LastRow;
  readonly list?: { readonly id: string; readonly position: number };
}

function writeOrderToken({ row, list }: OrderToken): string {
  const content = [row.key, row.values, ...(list === undefined ? [] : [list.id, list.position])];
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/**
 * @param terms how many terms the order of the request has
 * @throws PlatError `skipTokenInvalid` for anything that `writeOrderToken` did not make for such an order
 */
export function readOrderToken(token: string, terms: number): OrderToken {
  const content = parse(token);
  if (!Array.isArray(content)) throw platError('skipTokenInvalid', {}, { target: '$skiptoken' });
  const [key, values, id, position]: unknown[] = content;
  const isValue = (value: unknown): value is string | number | null =>
    value === null || typeof value === 'string' || typeof value === 'number';
  if (
    typeof key !== 'string' ||
    !Array.isArray(values) ||
    values.length !== terms ||
    !values.every(isValue)
  ) {
    throw platError('skipTokenInvalid', {}, { target: '$skiptoken' });
  }
  const row = { key, values };
  if (id === undefined && position === undefined) return { row };
  if (typeof id !== 'string' || !Number.isSafeInteger(position)) {
    throw platError('skipTokenInvalid', {}, { target: '$skiptoken' });
  }
  return { row, list: { id, position: Number(position) } };
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** Where a page of an order begins. */
export function orderPosition({ row }: OrderToken): Position {
  return { kind: 'after-row', values: row.values, key: row.key };
}

/** The token of the page after a row: in key order its key, else what the order needs to go on. */
export function tokenAfter(order: readonly OrderTerm[], row: LastRow, list?: OrderToken['list']): string {
  if (order.length === 0) return row.key;
  return writeOrderToken(list === undefined ? { row } : { row, list });
}
