/**
 * Skip tokens: what `$skiptoken` and `_skiptoken` mean, and how they are written. In key order a token is the key of the last
 * row, as it is (specification 2.3); in another order it holds what that order needs to go on. This module knows no store.
 */
import { platError } from '../errors/index.ts';
import type { OrderTerm } from './tree.ts';

/** The last row of a page: its key, and the values of the order's terms. */
interface Row {
  readonly key: string;
  readonly values: readonly (string | number | boolean | null)[];
}

/** Where a walk over a kept list has come to. */
interface ListPosition {
  readonly id: string;
  readonly position: number;
}

/** Where a page begins that a token asks for. */
export type Continuation =
  | { readonly kind: 'start' }
  /** In key order, whether the key's record exists or not. */
  | { readonly kind: 'after-key'; readonly key: string }
  | ({ readonly kind: 'after-row'; readonly list?: ListPosition } & Row);

const isQuoted = (text: string): boolean => /^'.*'$/s.test(text);

/**
 * The token that leads behind a key: the key without quotes, since in quotes it would be another key. A key that has quotes
 * around it has a second pair in its token.
 */
export const skipTokenOf = (key: string): string => (isQuoted(key) ? `'${key}'` : key);

/** The token of a request without the quotes of `skipTokenOf`. @throws PlatError `optionInvalid` for a key in quotes */
export function keyOfSkipToken(option: '$skiptoken' | '_skiptoken', token: string): string {
  if (!isQuoted(token)) return token;
  const key = token.slice(1, -1);
  if (isQuoted(key)) return key;
  const facts = { name: option, value: token, expected: 'a token as it was given, without quotes' };
  throw platError('optionInvalid', facts, { target: option });
}

/**
 * The token of the page after a row, before `skipTokenOf`.
 * @param list where the walk is in the list of rows that a filter found, if it has one
 */
export function tokenAfter(order: readonly OrderTerm[], { key, values }: Row, list?: ListPosition): string {
  if (order.length === 0) return key;
  const content = [key, values, ...(list === undefined ? [] : [list.id, list.position])];
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/**
 * What a token means in an order; none, or an empty one, is the first page.
 * @throws PlatError `skipTokenInvalid` for anything that `tokenAfter` did not make for such an order
 */
export function readSkipToken(token: string | undefined, order: readonly OrderTerm[]): Continuation {
  if (token === undefined || token === '') return { kind: 'start' };
  if (order.length === 0) return { kind: 'after-key', key: token };
  const [key, values, id, position] = parse(token);
  const isRow = typeof key === 'string' && Array.isArray(values) && values.length === order.length;
  if (!isRow || !values.every(isValue)) throw invalid();
  const row = { kind: 'after-row', key, values } as const;
  if (id === undefined && position === undefined) return row;
  if (typeof id !== 'string' || typeof position !== 'number' || !Number.isSafeInteger(position)) {
    throw invalid();
  }
  return { ...row, list: { id, position } };
}

const invalid = () => platError('skipTokenInvalid', {}, { target: '$skiptoken' });

const isValue = (value: unknown): value is string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number';

function parse(token: string): readonly unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    throw invalid();
  }
  if (!Array.isArray(content)) throw invalid();
  return content;
}
