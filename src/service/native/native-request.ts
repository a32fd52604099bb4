/**
 * What every handler of the native interface uses: the request, its parameters bound to a collection, and the envelope of the
 * response (reference: native-v1). It must not know the paths.
 */
import type { NativeNames } from '../../query/native/names.ts';
import { type NativeParameters, type ParameterName, parseParameters } from '../../query/native/parameters.ts';
import { bindParameters, type NativeRequest } from '../../query/native/request.ts';
import type { OfferedExpansions } from '../../query/native/selection.ts';
import type { Basis } from '../cache/response-basis.ts';
import { type AuthenticatedExchange, type BodyPart, JSON_TYPE, type Reply } from '../exchange.ts';
import { replyOrNotModified, weakTag } from '../reply/conditions.ts';

export interface NativeExchange extends AuthenticatedExchange {
  readonly parameters: NativeParameters;
}

/** A native request whose route is known. */
export interface RoutedExchange extends NativeExchange {
  /** The parameters that the route takes. */
  readonly takes: readonly ParameterName[];
}

export const nativeExchange = (request: AuthenticatedExchange): NativeExchange => ({
  ...request,
  parameters: parseParameters(request.exchange.query),
});

/**
 * Binds the parameters of a request to a collection. The limits are those of listings unless `offered` names others.
 *
 * @throws PlatError as in `bindParameters`
 */
export function bindRequest(
  { exchange, session, parameters, takes }: RoutedExchange,
  names: NativeNames,
  offered: OfferedExpansions = { expansions: [] },
  limit: { readonly most: number; readonly default?: number } = exchange.surface.paging.nativeLimit,
): NativeRequest {
  return bindParameters(parameters, {
    names,
    parameters: takes,
    ...offered,
    limit,
    now: new Date(session.now),
  });
}

/** Names for a collection that can only select members, if it has any. */
export const memberNames = (collection: string, members: readonly string[] = []): NativeNames => ({
  collection,
  find: (name) => (members.includes(name) ? { kind: 'constant', text: '' } : { kind: 'unknown' }),
  findCustom: () => ({ kind: 'unknown' }),
  lookup: () => undefined,
  names: () => members,
  customNames: () => [],
  counterparts: () => [],
});

/** @throws PlatError `optionNotTaken` for any parameter, on a route that takes none */
export const refuseParameters = (request: RoutedExchange, collection: string): void =>
  void bindRequest(request, memberNames(collection));

/** A success in the native envelope: the results are always a list. */
export function successReply(
  results: readonly BodyPart[],
  rows: number,
  {
    skipToken,
    pagination,
  }: { readonly skipToken?: string | undefined; readonly pagination?: object | undefined } = {},
  headers: Readonly<Record<string, string>> = {},
): Reply {
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

/** A success whose results are objects to serialize. */
export const resultsReply = (values: readonly unknown[], headers?: Readonly<Record<string, string>>): Reply =>
  successReply([values.map((value) => JSON.stringify(value)).join(',')], values.length, {}, headers);

/** One record as the only result, or 304 if the client has it already. */
export const taggedResult = ({ exchange }: NativeExchange, body: string | Uint8Array, basis?: Basis): Reply =>
  replyOrNotModified(exchange.headers, { ...successReply([body], 1, {}, { etag: weakTag(body) }), basis });

/** @param where the number of rows before the first row, or the number of the page */
export function pagination(
  total: number,
  size: number,
  where: { readonly page: number } | { readonly offset: number },
): object {
  const counts = { TotalRows: total, PageSize: size, TotalPages: Math.ceil(total / Math.max(1, size)) };
  return 'page' in where
    ? { ...counts, CurrentPage: where.page }
    : { ...counts, CurrentOffset: where.offset };
}
