import { partNamed, type RecordQuery } from '../../compile/read.ts';
import { partMembers } from '../../compile/text/native-parts.ts';
import type { Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type NativeNames, resourceNames } from '../../query/native/names.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { bindParameters, type NativeRequest } from '../../query/native/request.ts';
import { LISTING_EXPANSIONS, type NativeExpansion } from '../../query/native/selection.ts';
import { readSkipToken, skipTokenOf } from '../../query/skip-token.ts';
import { asking, partsOf, type Reply, signingFor, walkStep } from '../exchange.ts';
import { indexHeaders, type PageAnswer, readPage } from '../paging/read-page.ts';
import { windowOf, windowText } from '../paging/window.ts';
import { hasTag, weakTag } from '../reply/conditions.ts';
import { type NativeExchange, pagination, success } from './native-request.ts';

const COLLECTION_PARAMETERS = [
  '_filter',
  '_orderby',
  '_select',
  '_expand',
  '_limit',
  '_skip',
  '_skiptoken',
  '_page',
  '_pagination',
] as const;

/** The members of the records that an expansion gives. */
const membersOf = (expansion: NativeExpansion): readonly string[] =>
  expansion === 'CustomFields' || expansion === 'Supplement' ? [] : partMembers(partNamed(expansion));

const LISTING_EXPANDED = { expansions: LISTING_EXPANSIONS, membersOf } as const;

/** `/v1/listings` (specification 4.3). */
export const listings = (request: NativeExchange): Promise<Reply> =>
  listingPage(request, bindListings(request, COLLECTION_PARAMETERS));

export const listingNames = (request: NativeExchange): NativeNames => {
  const { schema } = request.session.view;
  return resourceNames('listings', schema.of(listingResource(request)), schema);
};

/**
 * Understands what is asked of listings.
 * @param taken the parameters that the path has a use for
 * @param collection as messages call what is asked
 */
export function bindListings(
  request: NativeExchange,
  taken: readonly ParameterName[],
  collection = 'listings',
): NativeRequest {
  const { exchange, session, parameters } = request;
  const { most, default: usual } = exchange.surface.paging.nativeLimit;
  return bindParameters(parameters, {
    names: { ...listingNames(request), collection },
    parameters: taken,
    ...LISTING_EXPANDED,
    limit: { most, default: usual },
    now: new Date(session.now),
  });
}

/** A page of the listings that are asked for. */
export async function listingPage(request: NativeExchange, asked: NativeRequest): Promise<Reply> {
  const { context, exchange, session } = request;
  const resource = listingResource(request);
  const size = asked.limit ?? exchange.surface.paging.nativeLimit.default;
  const query: RecordQuery = { ...asking(session), resource, filter: asked.filter, order: asked.order };
  const { position } = asked;
  const counts = asked.pagination !== 'none';
  exchange.timings.start('store');
  // Whatever else is asked of the store comes first: a page that is still being read holds what it is read with.
  const left = counts && position.kind === 'token' ? await rowsAfter(request, query, position.token) : 0;
  const answer = await readPage(context, {
    keyId: session.key.id,
    query,
    limit: asked.pagination === 'count' ? 0 : size,
    skip: offsetOf(position, size),
    token: tokenOf(position),
    shape: {
      kind: 'native-listing',
      display: 'Summary',
      selection: asked.selection,
      computed: asked.selection.computed,
      expansions: asked.expansions,
      members: asked.members,
    },
    files: signingFor(context, exchange, session),
    counts,
    taken: exchange.taken,
  });
  exchange.timings.start('encode');
  const { page, count } = answer;
  const beside = {
    skipToken: nextToken(asked, answer),
    pagination:
      count === undefined ? undefined : pagination(count, size, placeOf(position, count - left, size)),
  };
  const window = windowOf(asked.filter);
  return {
    ...success(partsOf(page), page.rows, beside, indexHeaders(answer)),
    ...(window === undefined ? {} : { window: windowText(window) }),
    walk: isWalk(asked) ? walkStep(tokenOf(position), offsetOf(position, size), page) : undefined,
  };
}

export function listingResource({ session }: NativeExchange): Resource {
  const listing = session.view.schema.find('Property');
  if (listing === undefined) throw platError('resourceUnknown', { name: 'listings' });
  return listing.resource;
}

export function offsetOf(position: NativeRequest['position'], size: number): number {
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

const tokenOf = (position: NativeRequest['position']): string | undefined =>
  position.kind === 'token' ? position.token : undefined;

/** Whether all listings are asked for, as a purge does. */
const isWalk = ({ filter, order, pagination: wanted }: NativeRequest): boolean =>
  filter === undefined && order.length === 0 && wanted !== 'count';

/** The last record's key on every page with rows; on an empty one the token that was sent (contract, Native). */
function nextToken({ order, position }: NativeRequest, { page }: PageAnswer): string | undefined {
  if (order.length > 0 || position.kind === 'offset' || position.kind === 'page') return undefined;
  const key = page.last?.key ?? tokenOf(position);
  return key === undefined ? undefined : skipTokenOf(key);
}

/** How many rows come after a token; of an empty one, all. */
async function rowsAfter({ context }: NativeExchange, query: RecordQuery, token: string): Promise<number> {
  const start = readSkipToken(token, []);
  const after = start.kind === 'after-key' ? { after: { key: start.key, values: [] } } : {};
  return context.store.count({ ...query, ...after }, context.read);
}

/** The page or offset that `Pagination` tells. After a token it is the page that the first row would be on. */
function placeOf(
  position: NativeRequest['position'],
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
export async function listing(request: NativeExchange, key: string): Promise<Reply> {
  const { context, exchange, session } = request;
  const resource = listingResource(request);
  const asked = bindListings(request, ['_select', '_expand', '_limit']);
  exchange.timings.start('store');
  const { selection, expansions, members } = asked;
  const { computed } = selection;
  const body = await context.store.record(
    {
      query: { ...asking(session), resource },
      key,
      shape: { kind: 'native-listing', display: 'Detail', selection, computed, expansions, members },
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  if (body === undefined) throw platError('recordNotFound', { resource: 'listing' });
  return taggedResult(request, body);
}

/** One record as the only result, or 304 when the client has it already. */
export function taggedResult({ exchange }: NativeExchange, body: string | Uint8Array): Reply {
  const etag = weakTag(body);
  if (hasTag(exchange.headers['if-none-match'], etag)) return { status: 304, headers: { etag }, body: [] };
  return success([body], 1, {}, { etag });
}
