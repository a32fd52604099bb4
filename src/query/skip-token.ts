/**
 * Skip tokens: the meaning and the form of `$skiptoken` and `_skiptoken`. In key order, a token is the unchanged key of the last
 * row (specification 2.3); in another order, it contains the values that are needed to continue. This module knows no store.
 */
import { platError } from '../errors/index.ts';
import { tryParseJson } from '../shared/json.ts';
import { type OrderTerm, typeOf, type ValueType } from './tree.ts';

/** The last row of a page: its key, and the values of the order's terms. */
interface Row {
  readonly key: string;
  readonly values: readonly (string | number | boolean | null)[];
}

/** The position of a walk in a cached list. */
interface ListPosition {
  readonly id: string;
  readonly position: number;
}

/** The position at which the page of a token begins. */
type Continuation =
  | { readonly kind: 'start' }
  /** The rows after a key, in key order. The record with the key need not exist. */
  | { readonly kind: 'after-key'; readonly key: string }
  | ({ readonly kind: 'after-row'; readonly list?: ListPosition } & Row);

/** OData uses single quotes; double quotes come from clients that send the token as JSON. */
const isQuoted = (text: string): boolean => /^(['"]).*\1$/s.test(text);

/**
 * The token of the page after a key: the key itself, without quotes, since quotes would be part of the key. A key that begins and
 * ends with quotes is therefore enclosed in another pair.
 */
export const skipTokenOf = (key: string): string => (isQuoted(key) ? `'${key}'` : key);

/** A request's token without the quotes that `skipTokenOf` added. @throws PlatError `optionInvalid` for a key in quotes */
export function keyOfSkipToken(option: '$skiptoken' | '_skiptoken', token: string): string {
  if (!isQuoted(token)) return token;
  const key = token.slice(1, -1);
  if (isQuoted(key)) return key;
  const facts = { name: option, value: token, expected: 'a token as it was returned, without quotes' };
  throw platError('optionInvalid', facts, { target: option });
}

/**
 * The token of the page after a row, to be passed to `skipTokenOf`.
 * @param list the position in the cached list of a filter, if the walk reads one
 */
export function tokenAfter(order: readonly OrderTerm[], { key, values }: Row, list?: ListPosition): string {
  if (order.length === 0) return key;
  const content = [key, values, ...(list === undefined ? [] : [list.id, list.position])];
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/**
 * The meaning of a token in an order; without a token, or with an empty one, the first page.
 *
 * @throws PlatError `skipTokenInvalid` for anything that `tokenAfter` does not create for such an order
 */
export function readSkipToken(token: string | undefined, order: readonly OrderTerm[]): Continuation {
  if (token === undefined || token === '') return { kind: 'start' };
  if (order.length === 0) return { kind: 'after-key', key: token };
  const [key, values, id, position] = parse(token);
  const isRow = typeof key === 'string' && Array.isArray(values) && values.length === order.length;
  if (!isRow || !values.every(isValue)) throw invalid();
  if (!order.every((term, index) => fits(values[index] ?? null, term))) throw invalid();
  const row = { kind: 'after-row', key, values } as const;
  if (id === undefined && position === undefined) return row;
  if (typeof id !== 'string' || typeof position !== 'number' || !Number.isSafeInteger(position)) {
    throw invalid();
  }
  return { ...row, list: { id, position } };
}

const invalid = () => platError('skipTokenInvalid', {}, { target: '$skiptoken' });

const isValue = (value: unknown): value is Row['values'][number] =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Whether an engine may have returned a value for a term. Depending on the engine, booleans are 0 or 1, and numbers are texts. */
function fits(value: Row['values'][number], { expression }: OrderTerm): boolean {
  const type = typeOf(expression);
  if (value === null || UNORDERED.has(type)) return true;
  if (type === 'boolean') return typeof value === 'boolean' || value === 0 || value === 1;
  if (!NUMERIC.has(type)) return typeof value === 'string';
  return typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value));
}

const NUMERIC: ReadonlySet<ValueType> = new Set(['integer', 'decimal', 'duration']);
const UNORDERED: ReadonlySet<ValueType> = new Set(['point', 'polygon', 'null']);

function parse(token: string): readonly unknown[] {
  const content = tryParseJson(Buffer.from(token, 'base64url').toString());
  if (!Array.isArray(content)) throw invalid();
  return content;
}
