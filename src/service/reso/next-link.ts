import { skipTokenOf } from '../../query/skip-token.ts';
import type { Exchange } from '../exchange.ts';
import { linkQuery } from '../posted-query.ts';

/** Options that a next link gives anew, or not at all. */
const REPLACED = new Set(['skip', 'skiptoken', 'top', 'maxpagesize']);

const nameOf = (pair: string): string => {
  const [name = ''] = pair.split('=', 1);
  return decodeURIComponent(name.replaceAll('+', ' ')).replace(/^\$/, '').toLowerCase();
};

export interface NextPage {
  /** The key of the last row. */
  readonly token: string;
  readonly top?: number | undefined;
  /** A page size that the client preferred: it holds for the whole walk (OData 4.01 protocol, 8.2.8.5). */
  readonly maxPageSize?: number | undefined;
}

/**
 * The address of the next page: every option of the request but `$skip`, as it came, with the token of the last
 * row (specification 2.3).
 */
export function nextLink(exchange: Exchange, { token, top, maxPageSize }: NextPage): string {
  const { base, path, query } = exchange;
  const kept = query.split('&').filter((pair) => pair !== '' && !REPLACED.has(nameOf(pair)));
  const added = [
    ...(top === undefined ? [] : [`$top=${top}`]),
    ...(maxPageSize === undefined ? [] : [`maxpagesize=${maxPageSize}`]),
    `$skiptoken=${encodeURIComponent(skipTokenOf(token))}`,
  ];
  const end = added.join('&');
  const options = linkQuery(exchange, kept, path.length + end.length + 2);
  return `${base}${path}?${options === '' ? '' : `${options}&`}${end}`;
}

/** The page size that an earlier page's link carries on. */
export function carriedPageSize(query: string): number | undefined {
  const pair = query.split('&').find((each) => nameOf(each) === 'maxpagesize');
  const value = Number(pair?.split('=')[1]);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
