/** Collections of records and their counts: entity sets, and the children of one record (OData 4.01 protocol, 11.2.6). */
import { lowerBound } from '../../compile/events-plan.ts';
import { platError } from '../../errors/index.ts';
import { bindOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { checkRelated } from '../../query/related-records.ts';
import type { CollectionQuery } from '../../query/request.ts';
import { positionText } from '../../store/changes/change-feed.ts';
import type { WalkStep } from '../../store/shared.ts';
import {
  acceptsGzip,
  queryContext,
  type Reply,
  recordsOf,
  signingFor,
  type WalkPage,
  walkStep,
} from '../exchange.ts';
import {
  indexHeaders,
  NOTHING_STORED,
  type PageAnswer,
  type PageOptions,
  readPage,
} from '../paging/read-page.ts';
import { walkPageOf } from '../paging/walk-page.ts';
import { beforeCut, type WindowCut, waitOrCut, windowOf, windowText } from '../paging/window.ts';
import { delta } from './delta.ts';
import {
  carriedPageSize,
  carriedWindowEnd,
  deltaLink,
  type NextPage,
  nextLink,
  pageSize,
} from './next-page.ts';
import { type FoundCollection, resolvePath } from './resolve.ts';
import {
  closeCollection,
  contextFields,
  contextMember,
  countMember,
  openJsonObject,
  plainText,
  preferenceHeaders,
  type ResoRequest,
  refuseOptionsOfEvents,
  requireJson,
  resoJson,
  shapeOf,
  withKeySelected,
} from './resource-request.ts';
import { isEntitySet, trackingOf } from './tracking.ts';
import { recordsAsRequested, usesStoredForm } from './value-forms.ts';

type CollectionPath = ResourcePath & { kind: 'collection' };
type CountPath = ResourcePath & { kind: 'count' };

/**
 * Answers a request for a collection, an entity set or the children of one record (OData 4.01 protocol, 11.2.6), stage by
 * stage: the parsed options are bound to the names that the key may see, the page is planned, read and written.
 */
export async function collection(request: ResoRequest, path: CollectionPath): Promise<Reply> {
  requireJson(request);
  const { context, exchange, session, options, preferences } = request;
  const kind = isEntitySet(path) ? 'collection' : 'children';
  if (kind === 'collection' && options.system.has('deltatoken')) return delta(request, path);
  const bound = bindOptions(kind, options, path.resource, session.view.schema);
  refuseOptionsOfEvents(bound);
  refuseTokenWithSkip(bound);
  const { skip = 0, skipToken: token } = bound;
  const preferred = preferences.maxPageSize ?? carriedPageSize(exchange.query);
  const size = pageSize(exchange.surface.paging, bound.top, bound.skip, preferred);
  checkRelated(bound.expansions, size.rows);
  const found = await collectionOf(request, path);
  exchange.timings.start('store');
  // A client that pages with `$skip` does not follow links.
  const cut =
    skip === 0 ? await waitOrCut(context, bound.filter, carriedWindowEnd(exchange.query)) : undefined;
  // The link to the rest of a cut response has another filter, so its changes are not tracked.
  const tracking = cut === undefined ? await trackingOf(request, path, bound) : undefined;
  const query = tracking === undefined ? bound : withKeySelected(bound);
  const filter = cut === undefined ? query.filter : beforeCut(query.filter, cut);
  const answer = await readCollection(
    request,
    found,
    { ...query, filter },
    { limit: size.rows, skip, token, counts: query.count, walk: tracking?.token },
  );
  exchange.timings.start('encode');
  const { page, next } = answer;
  const link =
    (next === undefined && cut === undefined) || size.isAll(page.rows)
      ? undefined
      : nextLink(exchange, {
          token: next,
          ...(cut === undefined ? {} : restOf(cut, next === undefined)),
          trackedSince: tracking?.token,
          top: size.nextTop(page.rows),
          maxPageSize: exchange.surface.paging.top === 'total' ? preferred : undefined,
        });
  const head = {
    ...contextMember(request, `#${path.resource.resource.name}${contextFields(query)}`),
    ...(query.count && answer.count !== undefined ? countMember(request, answer.count) : {}),
  };
  const records = recordsAsRequested(request, query, recordsOf(page));
  const last = link === undefined && tracking !== undefined ? deltaLink(exchange, tracking.token) : undefined;
  const window = windowOf(query.filter);
  const step = walkStep(token, skip, page);
  return {
    status: 200,
    headers: {
      'content-type': resoJson(request),
      ...preferenceHeaders(preferences, size.applied, tracking?.begins),
      ...indexHeaders(answer),
      ...(cut === undefined ? {} : { 'x-plat-window': 'partial' }),
    },
    body: [openJsonObject(head, '"value":['), records, closeCollection({ next: link, delta: last })],
    rows: page.rows,
    window: window && windowText(window),
    walk: isWalk(path, query) ? step : undefined,
    reading: walkPageAt(path, query, cut === undefined ? step : { ...step, ended: false }),
    basis: cut === undefined && tracking === undefined ? answer.basis : undefined,
  };
}

/** The number of records in a collection, as plain text (OData 4.01 protocol, 11.2.10). */
export async function count(request: ResoRequest, path: CountPath): Promise<Reply> {
  const { exchange, session, options } = request;
  const query = bindOptions('count', options, path.resource, session.view.schema);
  refuseOptionsOfEvents(query);
  const found = await collectionOf(request, path);
  exchange.timings.start('store');
  const answer = await readCollection(request, found, query, { limit: 0, skip: 0, counts: true });
  return plainText(String(answer.count ?? 0), indexHeaders(answer));
}

async function collectionOf(
  request: ResoRequest,
  path: CollectionPath | CountPath,
): Promise<FoundCollection> {
  const found = await resolvePath(request, path);
  if (found.kind !== 'collection') throw new Error('A path to a collection was resolved to a record');
  return found;
}

async function readCollection(
  request: ResoRequest,
  { resource, under, isBare }: FoundCollection,
  query: CollectionQuery,
  wanted: Pick<PageOptions, 'limit' | 'skip' | 'token' | 'counts' | 'walk'>,
): Promise<PageAnswer> {
  if (isBare) return NOTHING_STORED;
  const { context, exchange, session } = request;
  const { filter, search, order } = query;
  const answer = await readPage(context, {
    ...wanted,
    keyId: session.key.id,
    query: { ...queryContext(session), resource, filter, search, order, under },
    shape: await shapeOf(request, query),
    files: signingFor(request),
    model: session.model,
    gzip: acceptsGzip(exchange) && usesStoredForm(request),
    taken: exchange.taken,
  });
  if (resource.fromChanges) await requireKnownChanges(request, lowerBound(filter));
  return answer;
}

/**
 * Rejects a position after which changes have been removed: the entries after a number are complete only if all of them are still
 * stored. This is checked after the entries have been read, because entries may be removed in the meantime.
 *
 * @throws PlatError `eventsGone`
 */
async function requireKnownChanges({ context }: ResoRequest, since: number): Promise<void> {
  if (since === 0) return;
  const known = await context.store.changesKnown();
  if (since >= known.since) return;
  const { position } = await context.store.feed({ since: 'end', limit: 0 });
  throw platError(
    'eventsGone',
    { sequence: position.sequence },
    { target: '$filter', goOn: { kind: 'position', position: positionText(position) } },
  );
}

/**
 * The options of the next link for a window that is cut: where it is cut or, on the last page before the cut, a filter term that
 * requests the rest.
 */
const restOf = ({ until, by }: WindowCut, isRest: boolean): Pick<NextPage, 'term' | 'windowEnd'> =>
  isRest ? { term: `${by.field.name} ge ${until}` } : { windowEnd: until };

/** Whether the page belongs to a walk over all listings, as a purge makes (specification 4.4, rule 4). */
function isWalk({ root, steps }: CollectionPath, { filter, search, order }: CollectionQuery): boolean {
  const everything = filter === undefined && search === undefined && order.length === 0;
  return everything && steps.length === 0 && root.resource.resource.name === 'Property';
}

/** The walk or window that a page belongs to; none for a page of a search, or for a page that is not in key order. */
function walkPageAt(
  { root, steps }: CollectionPath,
  { filter, search, order, selection }: CollectionQuery,
  step: WalkStep,
): WalkPage | undefined {
  if (search !== undefined || order.length > 0 || steps.length > 0) return undefined;
  const { name: resource, key } = root.resource.resource;
  const [field, ...more] = selection.fields;
  const isKeys = !selection.all && field?.name === key && more.length === 0;
  return walkPageOf({ resource, filter, isKeys, step });
}

function refuseTokenWithSkip({ skipToken, skip }: CollectionQuery): void {
  if (skipToken !== undefined && skipToken !== '' && skip !== undefined) {
    const reason = 'both set where the page begins';
    throw platError('optionsConflict', { first: '$skiptoken', second: '$skip', reason }, { target: '$skip' });
  }
}
