/** The size of a page, and the link to the next one. It must not know how pages are read. */
import { canonicalTimestamp } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { skipTokenOf } from '../../query/skip-token.ts';
import type { Exchange } from '../exchange.ts';
import { linkQuery } from '../http/posted-query.ts';
import type { Paging } from '../surface.ts';

/**
 * The option with the time at which the response to a window that ends in the future was cut (paging/window.ts). It applies to the
 * whole walk.
 */
const WINDOW_END = 'windowend';

/** The option with the delta token of a walk whose changes are tracked. The last page returns the token. */
const TRACKED_SINCE = 'trackedsince';

/** Options of the request that a next link replaces or omits. */
const REPLACED = new Set(['skip', 'skiptoken', 'top', 'maxpagesize', WINDOW_END, TRACKED_SINCE]);

/** Options that apply only to the walk: a delta link has none of them (OData 4.01 protocol, 11.3). */
const OF_THE_WALK = new Set([...REPLACED, 'orderby', 'count', 'deltatoken']);

const nameOf = (pair: string): string => {
  const [name = ''] = pair.split('=', 1);
  return decodeURIComponent(name.replaceAll('+', ' ')).replace(/^\$/, '').toLowerCase();
};

export interface NextPage {
  /** The skip token, before `skipTokenOf`; absent: the link leads to a first page. */
  readonly token?: string | undefined;
  /** A further term for the filter of the request. */
  readonly term?: string | undefined;
  /** Where the response is cut. */
  readonly windowEnd?: string | undefined;
  readonly trackedSince?: string | undefined;
  readonly top?: number | undefined;
  /** The page size that the client preferred, which applies to the whole walk (OData 4.01 protocol, 8.2.8.5). */
  readonly maxPageSize?: number | undefined;
}

/**
 * The URL of the next page: every option of the request except `$skip`, as the client sent it, and the token of the last row
 * (specification 2.3).
 */
export function nextLink(exchange: Exchange, page: NextPage): string {
  const { token, term, windowEnd, trackedSince, top, maxPageSize } = page;
  const kept = pairsWithout(REPLACED, exchange.query).map((pair) =>
    term !== undefined && nameOf(pair) === 'filter' ? withTerm(pair, term) : pair,
  );
  const added = [
    ...(top === undefined ? [] : [`$top=${top}`]),
    ...(maxPageSize === undefined ? [] : [`maxpagesize=${maxPageSize}`]),
    ...(windowEnd === undefined ? [] : [`${WINDOW_END}=${windowEnd}`]),
    ...(trackedSince === undefined ? [] : [`${TRACKED_SINCE}=${trackedSince}`]),
    ...(token === undefined ? [] : [`$skiptoken=${encodeURIComponent(skipTokenOf(token))}`]),
  ];
  return linkTo(exchange, kept, added.join('&'));
}

/** The options of a request that also determine its later changes, as the client sent them. */
export const queryOfDelta = (query: string): string => pairsWithout(OF_THE_WALK, query).join('&');

/**
 * The URL of the changes of a collection or, without a token, of the whole collection.
 * @param token needs no percent-encoding
 */
export function deltaLink(exchange: Exchange, token?: string): string {
  const end = token === undefined ? '' : `$deltatoken=${token}`;
  return linkTo(exchange, pairsWithout(OF_THE_WALK, exchange.query), end);
}

const pairsWithout = (omitted: ReadonlySet<string>, query: string): string[] =>
  query.split('&').filter((pair) => pair !== '' && !omitted.has(nameOf(pair)));

/** @param end further options, percent-encoded */
function linkTo(exchange: Exchange, kept: readonly string[], end: string): string {
  const { base, path } = exchange;
  const options = linkQuery(exchange, kept, path.length + end.length + 2);
  const query = [options, end].filter((part) => part !== '').join('&');
  return query === '' ? `${base}${path}` : `${base}${path}?${query}`;
}

/** A filter as the client sent it, with a further term. */
function withTerm(pair: string, term: string): string {
  const [name = '', ...value] = pair.split('=');
  return `${name}=(${value.join('=')})%20and%20${encodeURIComponent(term)}`;
}

/** The page size that the link of an earlier page carries. */
export function carriedPageSize(query: string): number | undefined {
  const value = Number(carriedOption(query, 'maxpagesize'));
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The time at which the walk is cut, from the link of an earlier page. Canonical. */
export function carriedWindowEnd(query: string): string | undefined {
  const value = carriedOption(query, WINDOW_END);
  return value === undefined ? undefined : canonicalTimestamp(value);
}

/** The delta token that the link of an earlier page carries. */
export const carriedDeltaToken = (query: string): string | undefined => carriedOption(query, TRACKED_SINCE);

const carriedOption = (query: string, name: string): string | undefined =>
  query
    .split('&')
    .find((each) => nameOf(each) === name)
    ?.split('=')[1];

/** The number of rows of a page, and the `$top` of its next link. */
interface PageSize {
  readonly rows: number;
  /** `$top` of the next link, given the rows of this page; undefined if the link has none, or there is no link. */
  readonly nextTop: (rows: number) => number | undefined;
  /** Whether this page completes the rows that were requested. */
  readonly isAll: (rows: number) => boolean;
  /** The page size that was applied instead of a larger one. */
  readonly applied?: number;
}

/**
 * `$top`, as the surface interprets it (contract, Paging): the page size on the replication surface, the total elsewhere.
 *
 * @throws PlatError if `$top` exceeds the largest page although the client pages with `$skip`
 */
export function pageSize(
  paging: Paging,
  top: number | undefined,
  skip: number | undefined,
  preferred: number | undefined,
): PageSize {
  const { largestSize, defaultSize } = paging;
  if (paging.top === 'page') {
    if (top !== undefined && top > largestSize && skip !== undefined) {
      const reason = `a page has at most ${largestSize} rows, so steps of ${top} would skip rows`;
      throw platError('optionsConflict', { first: '$top', second: '$skip', reason }, { target: '$top' });
    }
    const rows = Math.min(top ?? defaultSize, largestSize, preferred ?? largestSize);
    const cut = rows < (top ?? rows) || preferred === rows;
    return { rows, nextTop: () => rows, isAll: () => rows === 0, ...(cut ? { applied: rows } : {}) };
  }
  const page = Math.min(preferred ?? largestSize, top === undefined ? defaultSize : largestSize);
  const rows = Math.min(page, top ?? page);
  return {
    rows,
    nextTop: (given) => (top === undefined ? undefined : top - given),
    isAll: (given) => top !== undefined && given >= top,
    ...(preferred !== undefined && preferred <= page ? { applied: preferred } : {}),
  };
}
