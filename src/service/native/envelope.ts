import { JSON_TYPE, type Part, type Reply } from '../exchange.ts';

/** What stands beside the results (reference: native-v1, Envelope and Parameters). */
export interface Beside {
  readonly skipToken?: string | undefined;
  readonly pagination?: Pagination | undefined;
}

export interface Pagination {
  readonly TotalRows: number;
  readonly PageSize: number;
  readonly TotalPages: number;
  readonly CurrentPage?: number;
  readonly CurrentOffset?: number;
}

/** A success in the native envelope: the results are always a list. */
export function success(
  results: readonly Part[],
  rows: number,
  beside: Beside = {},
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const { skipToken, pagination } = beside;
  const tail = [
    ']',
    ...(skipToken === undefined ? [] : [`,"SkipToken":${JSON.stringify(skipToken)}`]),
    ...(pagination === undefined ? [] : [`,"Pagination":${JSON.stringify(pagination)}`]),
    '}}',
  ];
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: ['{"D":{"Success":true,"Results":[', ...results, tail.join('')],
    rows,
  };
}

/** @param where the first row's number, or the page */
export function pagination(
  total: number,
  size: number,
  where: { readonly page: number } | { readonly offset: number },
): Pagination {
  const counts = { TotalRows: total, PageSize: size, TotalPages: Math.ceil(total / Math.max(1, size)) };
  return 'page' in where
    ? { ...counts, CurrentPage: where.page }
    : { ...counts, CurrentOffset: where.offset };
}
