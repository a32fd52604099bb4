import { canonicalTimestamp } from '../../dictionary/index.ts';
import { skipTokenOf } from '../../query/skip-token.ts';
import type { Exchange } from '../exchange.ts';
import { linkQuery } from '../posted-query.ts';

/** Where the answer to a window was cut that ends ahead of the clock (paging/window-ahead.ts): it holds for the walk. */
const WINDOW_END = 'windowend';

/** Options that a next link gives anew, or not at all. */
const REPLACED = new Set(['skip', 'skiptoken', 'top', 'maxpagesize', WINDOW_END]);

const nameOf = (pair: string): string => {
  const [name = ''] = pair.split('=', 1);
  return decodeURIComponent(name.replaceAll('+', ' ')).replace(/^\$/, '').toLowerCase();
};

export interface NextPage {
  /** The key of the last row; absent: the link goes to a first page. */
  readonly token?: string | undefined;
  /** Joined to the filter of the request. */
  readonly term?: string | undefined;
  /** Where the answer is cut. */
  readonly windowEnd?: string | undefined;
  readonly top?: number | undefined;
  /** A page size that the client preferred: it holds for the whole walk (OData 4.01 protocol, 8.2.8.5). */
  readonly maxPageSize?: number | undefined;
}

/**
 * The address of the next page: every option of the request but `$skip`, as it came, with the token of the last
 * row (specification 2.3).
 */
export function nextLink(exchange: Exchange, { token, term, windowEnd, top, maxPageSize }: NextPage): string {
  const { base, path, query } = exchange;
  const given = query.split('&').filter((pair) => pair !== '' && !REPLACED.has(nameOf(pair)));
  const kept =
    term === undefined ? given : given.map((pair) => (nameOf(pair) === 'filter' ? joined(pair, term) : pair));
  const added = [
    ...(top === undefined ? [] : [`$top=${top}`]),
    ...(maxPageSize === undefined ? [] : [`maxpagesize=${maxPageSize}`]),
    ...(windowEnd === undefined ? [] : [`${WINDOW_END}=${windowEnd}`]),
    ...(token === undefined ? [] : [`$skiptoken=${encodeURIComponent(skipTokenOf(token))}`]),
  ];
  const end = added.join('&');
  const options = linkQuery(exchange, kept, path.length + end.length + 2);
  return `${base}${path}?${[options, end].filter((part) => part !== '').join('&')}`;
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

const carried = (query: string, name: string): string | undefined =>
  query
    .split('&')
    .find((each) => nameOf(each) === name)
    ?.split('=')[1];
