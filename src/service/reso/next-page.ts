/** How large a page is, and the link to the next one. It must not know how pages are read. */
import { canonicalTimestamp } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { skipTokenOf } from '../../query/skip-token.ts';
import type { Exchange } from '../exchange.ts';
import { linkQuery } from '../http/posted-query.ts';
import type { Paging } from '../surface.ts';

/** Where the response to a window was cut that ends ahead of the clock (paging/window.ts): it holds for the walk. */
const WINDOW_END = 'windowend';

/** The delta token of a walk whose changes are tracked, which its last page gives. */
const TRACKED_SINCE = 'trackedsince';

/** Options that a next link gives again, or not at all. */
const REPLACED = new Set(['skip', 'skiptoken', 'top', 'maxpagesize', WINDOW_END, TRACKED_SINCE]);

/** Options that end with the walk: a delta link keeps none of them (OData 4.01 protocol, 11.3). */
const OF_THE_WALK = new Set([...REPLACED, 'orderby', 'count', 'deltatoken']);

const nameOf = (pair: string): string => {
  const [name = ''] = pair.split('=', 1);
  return decodeURIComponent(name.replaceAll('+', ' ')).replace(/^\$/, '').toLowerCase();
};

export interface NextPage {
  /** The skip token, before `skipTokenOf`; absent: the link goes to a first page. */
  readonly token?: string | undefined;
  /** Joined to the filter of the request. */
  readonly term?: string | undefined;
  /** Where the response is cut. */
  readonly windowEnd?: string | undefined;
  readonly trackedSince?: string | undefined;
  readonly top?: number | undefined;
  /** A page size that the client preferred: it holds for the whole walk (OData 4.01 protocol, 8.2.8.5). */
  readonly maxPageSize?: number | undefined;
}

/**
 * The address of the next page: every option of the request but `$skip`, as it came, with the token of the last
 * row (specification 2.3).
 */
export function nextLink(exchange: Exchange, page: NextPage): string {
  const { token, term, windowEnd, trackedSince, top, maxPageSize } = page;
  const kept = pairsBut(REPLACED, exchange.query).map((pair) =>
    term !== undefined && nameOf(pair) === 'filter' ? joined(pair, term) : pair,
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

/** The options of a request that later changes of its collection depend on, as they came. */
export const lastingQuery = (query: string): string => pairsBut(OF_THE_WALK, query).join('&');

/**
 * The address of what has changed in a collection, or, without a token, of the collection as it is.
 * @param token goes into an address as it is
 */
export function deltaLink(exchange: Exchange, token?: string): string {
  const end = token === undefined ? '' : `$deltatoken=${token}`;
  return linkTo(exchange, pairsBut(OF_THE_WALK, exchange.query), end);
}

const pairsBut = (left: ReadonlySet<string>, query: string): string[] =>
  query.split('&').filter((pair) => pair !== '' && !left.has(nameOf(pair)));

/** @param end the options that are added, as they stand in an address */
function linkTo(exchange: Exchange, kept: readonly string[], end: string): string {
  const { base, path } = exchange;
  const options = linkQuery(exchange, kept, path.length + end.length + 2);
  const query = [options, end].filter((part) => part !== '').join('&');
  return query === '' ? `${base}${path}` : `${base}${path}?${query}`;
}

/** A filter as it came, and a further term. */
function joined(pair: string, term: string): string {
  const [name = '', ...value] = pair.split('=');
  return `${name}=(${value.join('=')})%20and%20${encodeURIComponent(term)}`;
}

/** The page size that an earlier page's link carries on. */
export function carriedPageSize(query: string): number | undefined {
  const value = Number(carried(query, 'maxpagesize'));
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Where the walk of an earlier page's link is cut. Canonical. */
export function carriedWindowEnd(query: string): string | undefined {
  const value = carried(query, WINDOW_END);
  return value === undefined ? undefined : canonicalTimestamp(value);
}

/** The delta token that an earlier page's link carries on. */
export const carriedDeltaToken = (query: string): string | undefined => carried(query, TRACKED_SINCE);

const carried = (query: string, name: string): string | undefined =>
  query
    .split('&')
    .find((each) => nameOf(each) === name)
    ?.split('=')[1];

/** How many rows a page has, and what the next link says of it. */
interface PageSize {
  readonly rows: number;
  /** `$top` of the next link, from the rows of this page; undefined: none, or no next link at all. */
  readonly nextTop: (rows: number) => number | undefined;
  /** Whether the rows of this page are all that were requested. */
  readonly isAll: (rows: number) => boolean;
  /** The page size that was applied instead of a larger one. */
  readonly applied?: number;
}

/**
 * `$top` as the surface means it (contract, Paging): the page size on the replication surface, the total elsewhere.
 * @throws PlatError when `$top` would be cut although the client steps by it with `$skip`
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
      const reason = `a page has at most ${largestSize} rows, so a step of ${top} would lose rows`;
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
