/** Listings in the native interface (specification 4.3), and the parts of every page of that interface. */
import {
  type NativeListingShape,
  partOfNativeExpansion,
  type RecordQuery,
  type RecordRequest,
  type Shape,
} from '../../compile/read.ts';
import { partMembers } from '../../compile/text/native-parts.ts';
import { keyField, type Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type NativeNames, resourceNames } from '../../query/native/names.ts';
import type { NativeRequest } from '../../query/native/request.ts';
import { LISTING_EXPANSIONS, type NativeExpansion } from '../../query/native/selection.ts';
import { readSkipToken, skipTokenOf } from '../../query/skip-token.ts';
import type { WalkStep } from '../../store/shared.ts';
import { basisOfRecord } from '../cache/response-basis.ts';
import {
  acceptsGzip,
  queryContext,
  type Reply,
  recordsOf,
  signingFor,
  type WalkPage,
  walkStep,
} from '../exchange.ts';
import { indexHeaders, type PageAnswer, readPage } from '../paging/read-page.ts';
import { walkPageOf } from '../paging/walk-page.ts';
import { windowOf, windowText } from '../paging/window.ts';
import {
  bindRequest,
  type NativeExchange,
  pagination,
  type RoutedExchange,
  successReply,
  taggedResult,
} from './native-request.ts';

type PagePosition = NativeRequest['position'];

/** The members of the records that an expansion returns. */
const membersOf = (expansion: NativeExpansion): readonly string[] =>
  expansion === 'CustomFields' || expansion === 'Supplement'
    ? []
    : [...partMembers(partOfNativeExpansion(expansion)).keys()];

const LISTING_EXPANDED = { expansions: LISTING_EXPANSIONS, membersOf } as const;

/** @throws PlatError `resourceUnknown` for a key that sees no listings */
export function listingResource({ session }: NativeExchange): Resource {
  const listing = session.view.schema.find('Property');
  if (listing === undefined) throw platError('resourceUnknown', { name: 'listings' });
  return listing.resource;
}

export const listingNames = (request: NativeExchange): NativeNames => {
  const { schema } = request.session.view;
  return resourceNames('listings', schema.of(listingResource(request)), schema);
};

/** Binds the parameters of a request for listings. @param collection the name of the collection in messages */
export const bindListings = (request: RoutedExchange, collection = 'listings'): NativeRequest =>
  bindRequest(request, { ...listingNames(request), collection }, LISTING_EXPANDED);

/** `/v1/listings`. */
export const listings = (request: RoutedExchange): Promise<Reply> =>
  listingPage(request, bindListings(request));

/** A page of the listings that are requested. */
export async function listingPage(request: RoutedExchange, asked: NativeRequest): Promise<Reply> {
  const { selection, expansions, members, position } = asked;
  const { computed } = selection;
  const { answer, reply, skip } = await recordPage(request, asked, {
    query: { resource: listingResource(request) },
    shape: { kind: 'native-listing', display: 'Summary', selection, computed, expansions, members },
    usual: request.exchange.surface.paging.nativeLimit.default,
  });
  const window = windowOf(asked.filter);
  const step = walkStep(tokenOf(position), skip, answer.page);
  return {
    ...reply,
    headers: { ...reply.headers, ...indexHeaders(answer) },
    window: window && windowText(window),
    walk: isWalk(asked) ? step : undefined,
    reading: walkPageAt(asked, step),
    basis: countsRest(asked) ? undefined : answer.basis,
  };
}

/** Whether the records after a token must be counted: those that match the filter now. */
const countsRest = ({ pagination: counts, position }: NativeRequest): boolean =>
  counts !== 'none' && position.kind === 'token';

/** Whether the page belongs to a walk over all listings, as a purge makes. */
const isWalk = ({ filter, order, pagination: counts }: NativeRequest): boolean =>
  filter === undefined && order.length === 0 && counts !== 'count';

/** The walk or window that a page belongs to; a page that is not in key order belongs to none. */
function walkPageAt(asked: NativeRequest, step: WalkStep): WalkPage | undefined {
  const { filter, order, selection, pagination: counts } = asked;
  if (order.length > 0 || counts === 'count') return undefined;
  const isKeys = !selection.all && selection.names.length === 1;
  return walkPageOf({ resource: 'Property', filter, isKeys, step });
}

interface RecordPage {
  readonly query: Pick<RecordQuery, 'resource' | 'under' | 'part'>;
  readonly shape: Shape;
  /** The number of rows of a page if the request has no `_limit`; undefined: all rows. */
  readonly usual: number | undefined;
}

/** More rows than any store contains. */
const ALL = 2 ** 40;

/** Reads the page of records that is requested. */
export async function recordPage(
  request: RoutedExchange,
  asked: NativeRequest,
  { query: records, shape, usual = ALL }: RecordPage,
): Promise<{ readonly answer: PageAnswer; readonly reply: Reply; readonly skip: number }> {
  const { context, exchange, session, takes } = request;
  const { filter, order, position, limit: size = usual } = asked;
  const query: RecordQuery = { ...queryContext(session), ...records, filter, order };
  const counts = asked.pagination !== 'none';
  const skip = offsetOf(position, size);
  exchange.timings.start('store');
  // The count comes first, because a page that is still being read holds a connection of the store.
  const remaining =
    position.kind === 'token' && countsRest(asked) ? await rowsAfter(request, query, position.token) : 0;
  const answer = await readPage(context, {
    keyId: session.key.id,
    query,
    limit: asked.pagination === 'count' ? 0 : size,
    skip,
    token: tokenOf(position),
    shape,
    files: signingFor(request),
    counts,
    model: session.model,
    gzip: acceptsGzip(exchange),
    taken: exchange.taken,
  });
  exchange.timings.start('encode');
  const { page, count } = answer;
  const reply = successReply([recordsOf(page)], page.rows, {
    skipToken: takes.includes('_skiptoken') ? nextToken(asked, answer) : undefined,
    pagination:
      count === undefined
        ? undefined
        : pagination(
            count,
            size === ALL ? Math.max(1, count) : size,
            pageOrOffset(position, count - remaining, size),
          ),
  });
  return { answer, reply, skip };
}

/** The number of rows before the page. */
export function offsetOf(position: PagePosition, size: number): number {
  switch (position.kind) {
    case 'offset':
      return position.offset;
    case 'page':
      return (position.page - 1) * size;
    case 'start':
    case 'token':
      return 0;
  }
}

const tokenOf = (position: PagePosition): string | undefined =>
  position.kind === 'token' ? position.token : undefined;

/** The token of the next page: the key of the last record; on an empty page, the token of the request (contract, Native). */
function nextToken({ order, position }: NativeRequest, { page }: PageAnswer): string | undefined {
  if (order.length > 0 || position.kind === 'offset' || position.kind === 'page') return undefined;
  const key = page.last?.key ?? tokenOf(position);
  return key === undefined ? undefined : skipTokenOf(key);
}

/** The number of rows after a token; for an empty token, of all rows. */
async function rowsAfter({ context }: NativeExchange, query: RecordQuery, token: string): Promise<number> {
  const start = readSkipToken(token, []);
  const after = start.kind === 'after-key' ? { after: { key: start.key, values: [] } } : {};
  return context.store.count({ ...query, ...after }, context.read);
}

/** The page or offset that `Pagination` reports. After a token, it is the page that would contain the first row. */
export function pageOrOffset(
  position: PagePosition,
  before: number,
  size: number,
): { page: number } | { offset: number } {
  switch (position.kind) {
    case 'offset':
      return { offset: position.offset };
    case 'page':
      return { page: position.page };
    case 'start':
      return { page: 1 };
    case 'token':
      return { page: Math.floor(Math.max(0, before) / size) + 1 };
  }
}

/** `/v1/listings/<key>`. The tag covers the agent and office data in it. */
export async function listing(request: RoutedExchange, key: string): Promise<Reply> {
  const { selection, expansions, members } = bindListings(request);
  request.exchange.timings.start('store');
  const { computed } = selection;
  const shape = { display: 'Detail', selection, computed, expansions, members } as const;
  const body = await readListing(request, key, shape);
  const by = { model: request.session.model, damaged: request.context.read.damaged };
  return taggedResult(request, body, basisOfRecord(by, listingRequest(request, key, shape)));
}

/**
 * Reads a listing.
 * @param shape absent: reads only its key, to check that the listing exists
 * @throws PlatError `recordNotFound`, the same for a hidden listing as for a missing one (I4)
 */
export async function readListing(
  request: NativeExchange,
  key: string,
  shape: Partial<NativeListingShape> = {},
): Promise<Uint8Array> {
  const { store, read } = request.context;
  const body = await store.record(listingRequest(request, key, shape), read);
  if (body === undefined) throw platError('recordNotFound', { resource: 'listing' });
  return body;
}

/** The request to the store for a listing. */
function listingRequest(
  request: NativeExchange,
  key: string,
  shape: Partial<NativeListingShape>,
): RecordRequest {
  const resource = listingResource(request);
  const selection = { all: false, fields: [keyField(resource)], hidden: [] };
  return {
    query: { ...queryContext(request.session), resource },
    key,
    shape: { kind: 'native-listing', display: 'Summary', selection, expansions: [], ...shape },
    files: signingFor(request),
  };
}
