/**
 * Binds the parameters of a native request: filter, selection, order, and page of a collection. This module knows neither HTTP nor
 * a store.
 */
import { type Field, nearestOfEither } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../canonical.ts';
import { keyOfSkipToken } from '../skip-token.ts';
import type { Expression, OrderTerm } from '../tree.ts';
import { shortened } from './faults.ts';
import { bindFilter } from './filter.ts';
import { customName, type NativeName, type NativeNames } from './names.ts';
import { type Item, type NativeParameters, type ParameterName, readList } from './parameters.ts';
import { type BoundSelection, bindSelection, type OfferedExpansions } from './selection.ts';

export const LAST_PAGE = 100_000;
export const LAST_OFFSET = 2_500_000;

/** Where the requested rows begin. */
type PageStart =
  | { readonly kind: 'start' }
  /** The rows after this key; an empty token is the start. */
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'offset'; readonly offset: number }
  /** Counted from 1. */
  | { readonly kind: 'page'; readonly page: number };

export interface NativeRequest extends BoundSelection {
  readonly filter?: Expression;
  /** Empty: by key. The key also breaks ties. */
  readonly order: readonly OrderTerm[];
  /** `rows`: rows and their counts; `count`: only the counts. */
  readonly pagination: 'none' | 'rows' | 'count';
  /** The number of rows in a page; absent if the whole collection is returned unless the request has a limit. */
  readonly limit?: number;
  readonly position: PageStart;
}

/** The parameters that a collection accepts. */
export interface NativeBounds extends OfferedExpansions {
  readonly names: NativeNames;
  readonly parameters: readonly ParameterName[];
  readonly limit: { readonly most: number; readonly default?: number };
  readonly now: Date;
}

function wholeNumber(name: ParameterName, value: string, least: number, most: number): number {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  const expected = `a whole number from ${least} to ${most}`;
  throw platError('optionInvalid', { name, value: shortened(value), expected }, { target: name });
}

function readPagination(value: string | undefined): NativeRequest['pagination'] {
  switch (value) {
    case undefined:
    case '0':
      return 'none';
    case '1':
      return 'rows';
    case 'count':
      return 'count';
    default: {
      const name = '_pagination';
      throw platError(
        'optionInvalid',
        { name, value: shortened(value), expected: '0, 1 or count' },
        { target: name },
      );
    }
  }
}

const CONFLICTS: readonly (readonly [ParameterName, ParameterName, string])[] = [
  ['_skiptoken', '_orderby', 'a token continues the order by key'],
  ['_skiptoken', '_page', 'both set where the page begins'],
  ['_skiptoken', '_skip', 'both set where the page begins'],
  ['_page', '_skip', 'both set where the page begins'],
];

function checkConflicts(given: NativeParameters['given']): void {
  for (const [first, second, reason] of CONFLICTS) {
    const ordersNothing = second === '_orderby' && given.get(second)?.trim() === '';
    if (given.has(first) && given.has(second) && !ordersNothing) {
      throw platError('optionsConflict', { first, second, reason }, { target: second });
    }
  }
}

function readPosition(given: NativeParameters['given']): PageStart {
  const [token, skip, page] = [given.get('_skiptoken'), given.get('_skip'), given.get('_page')];
  if (token !== undefined) return { kind: 'token', token: keyOfSkipToken('_skiptoken', token) };
  if (skip !== undefined) return { kind: 'offset', offset: wholeNumber('_skip', skip, 0, LAST_OFFSET) };
  if (page !== undefined) return { kind: 'page', page: wholeNumber('_page', page, 1, LAST_PAGE) };
  return { kind: 'start' };
}

function checkAccepted(given: NativeParameters['given'], { parameters, names }: NativeBounds): void {
  for (const name of given.keys()) {
    if (parameters.includes(name)) continue;
    const taken = parameters.length === 0 ? 'none' : parameters.join(', ');
    throw platError('optionNotTaken', { name, resource: names.collection, taken }, { target: name });
  }
}

/**
 * Binds the parameters of a request to one collection.
 * @throws PlatError as `bindFilter`, `bindOrder` and `bindSelection` do; `optionNotTaken`, `optionsConflict` and
 *   `optionInvalid` (native 1053) for the rest
 */
export function bindParameters({ given }: NativeParameters, bounds: NativeBounds): NativeRequest {
  const { names, now, limit: limitBounds } = bounds;
  checkAccepted(given, bounds);
  checkConflicts(given);
  const position = readPosition(given);
  const pagination = readPagination(given.get('_pagination'));
  const requestedLimit = given.get('_limit');
  const limit =
    requestedLimit === undefined
      ? limitBounds.default
      : wholeNumber('_limit', requestedLimit, 1, limitBounds.most);
  const order = bindOrder(given.get('_orderby') ?? '', names);
  const filter = bindFilter(given.get('_filter') ?? '', names, { now });
  return {
    ...(filter === undefined ? {} : { filter }),
    order,
    ...bindSelection(given.get('_select') ?? '', given.get('_expand') ?? '', names, bounds),
    pagination,
    ...(limit === undefined ? {} : { limit }),
    position,
  };
}

// Names in lists, such as an order

const ORDER = '_orderby';
const TERM = /^([-+]?)\s*(?:([A-Za-z][A-Za-z0-9]*)|"([^"]+)"\."([^"]+)")$/;

/** One item of a list: a name and its meaning. */
interface ListedName {
  readonly name: string;
  readonly found: NativeName;
  readonly others: () => Iterable<string>;
  readonly descending: boolean;
}

function resolveName({ text }: Item, names: NativeNames): ListedName | undefined {
  const [whole, sign, plain, group = '', label = ''] = TERM.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const descending = sign === '-';
  if (plain !== undefined) return { name: plain, found: names.find(plain), others: names.names, descending };
  const found = names.findCustom(group, label);
  return { name: customName(group, label), found, others: names.customNames, descending };
}

/** The errors for an item of a list. */
function itemErrors(option: string, { text, position }: Item, names: NativeNames) {
  const extras = { target: option };
  return {
    malformed: (expected: string) =>
      platError('optionInvalid', { name: option, value: shortened(text), expected }, extras),
    mismatch: (name: string, reason: string) =>
      platError('typeMismatch', { option, position, reason: `${name} ${reason}` }, extras),
    unknown: ({ name, others }: ListedName) => {
      const nearest = nearestOfEither(name, others(), names.counterparts());
      const facts = { name: shortened(name), nearest, resource: names.collection, option, position };
      return platError('fieldUnknown', facts, extras);
    },
  };
}

/**
 * The record's own field that an item of a list names.
 *
 * @throws PlatError `fieldUnknown`, `typeMismatch`, `optionInvalid`
 */
export function bindField(option: string, item: Item, names: NativeNames): Field {
  const errors = itemErrors(option, item, names);
  const named = resolveName(item, names);
  if (named === undefined || named.descending) throw errors.malformed('fields with commas between them');
  const { found, name } = named;
  if (found.kind === 'hidden' || found.kind === 'unknown') throw errors.unknown(named);
  if (found.kind === 'field' && found.via.length === 0) return found.field;
  throw errors.mismatch(name, 'is not a field of these records');
}

function bindTerm(item: Item, names: NativeNames): OrderTerm | undefined {
  const errors = itemErrors(ORDER, item, names);
  const named = resolveName(item, names);
  if (named === undefined) {
    throw errors.malformed('fields with commas between them, each with "-" in front for descending');
  }
  const { name, found, descending } = named;
  const refuse = (reason: string) => errors.mismatch(name, reason);
  switch (found.kind) {
    case 'field': {
      const { field, via } = found;
      if (field.collection) throw refuse('has several values and cannot be used for ordering');
      return { expression: { kind: 'field', type: field.type.kind, scope: 0, via, field }, descending };
    }
    case 'computed':
      return { expression: found.expression, descending };
    case 'constant':
      return undefined;
    case 'composite':
      throw refuse('consists of several fields and cannot be used for ordering');
    case 'location':
      throw refuse('is a point and cannot be used for ordering');
    case 'hidden':
    case 'unknown':
      throw errors.unknown(named);
  }
}

/**
 * Binds `_orderby`. If a field is named twice, the first one counts.
 *
 * @throws PlatError `fieldUnknown`, `typeMismatch`, `optionInvalid`
 */
export function bindOrder(value: string, names: NativeNames): readonly OrderTerm[] {
  const terms = new Map<string, OrderTerm>();
  for (const item of readList(ORDER, value)) {
    const term = bindTerm(item, names);
    if (term === undefined) continue;
    const identity = canonicalText(term.expression);
    if (!terms.has(identity)) terms.set(identity, term);
  }
  return [...terms.values()];
}
