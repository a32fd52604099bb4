import type { NativeNames } from '../../query/native/names.ts';
import { type NativeParameters, parseParameters } from '../../query/native/parameters.ts';
import { bindParameters } from '../../query/native/request.ts';
import {
  type Exchange,
  JSON_TYPE,
  type Part,
  type Reply,
  type ServiceContext,
  type Session,
} from '../exchange.ts';

/** A request of the native interface with what all its handlers need. */
export interface NativeExchange {
  readonly context: ServiceContext;
  readonly exchange: Exchange;
  readonly session: Session;
  readonly parameters: NativeParameters;
}

export function nativeExchange(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
): NativeExchange {
  return { context, exchange, session, parameters: parseParameters(exchange.query) };
}

/** Names of a collection that has no fields to select, order or filter by. */
export const noNames = (collection: string): NativeNames => ({
  collection,
  find: () => ({ kind: 'unknown' }),
  findCustom: () => ({ kind: 'unknown' }),
  lookup: () => undefined,
  names: () => [],
  customNames: () => [],
  counterparts: () => [],
});

/** @throws PlatError `optionNotTaken` for any parameter of the native interface, where none has a meaning */
export function refuseParameters({ parameters, session }: NativeExchange, collection: string): void {
  bindParameters(parameters, {
    names: noNames(collection),
    parameters: [],
    expansions: [],
    limit: { most: 1 },
    now: new Date(session.now),
  });
}

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
