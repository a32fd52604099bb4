/**
 * Answers requests for a page of a delta: what has changed in a collection since a walk through it (OData 4.01 protocol, 11.3; JSON
 * format 4.01, 15). It must not know how the changed records are found, or how tokens are made.
 */
import { platError } from '../../errors/index.ts';
import { bindOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { estimateRelatedRecords, MAX_RELATED } from '../../query/related-records.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { Reply } from '../exchange.ts';
import { readChangedRecords } from './delta-records.ts';
import { deltaGone, nextStep } from './delta-steps.ts';
import { openDelta, sealDelta } from './delta-token.ts';
import { deltaLink } from './next-page.ts';
import {
  closeCollection,
  contextFields,
  contextMember,
  openJsonObject,
  preferenceHeaders,
  type ResoRequest,
  resoJson,
  withKeySelected,
} from './resource-request.ts';
import { dependencesIn, exceedsOData40, sealOf, viewName } from './tracking.ts';

type CollectionPath = ResourcePath & { readonly kind: 'collection' };

/**
 * Answers a delta link of an entity set.
 *
 * @throws PlatError `deltaTokenInvalid` if the token was not issued to this key with these options, `deltaGone`
 */
export async function delta(request: ResoRequest, path: CollectionPath): Promise<Reply> {
  const { options, session, preferences, exchange } = request;
  const seal = sealOf(request, path, options);
  const state = openDelta(seal, options.system.get('deltatoken') ?? '');
  if (state === undefined) throw platError('deltaTokenInvalid', {});
  const query = bindQueryOfLink(request, path);
  const dependences = query && dependencesIn(session, query);
  if (query === undefined || dependences === undefined || viewName(session, query) !== state.view) {
    throw deltaGone(request);
  }
  if (exceedsOData40(request, query)) {
    throw platError('notImplemented', { option: 'OData-Version', what: '4.0 with $expand in a delta' });
  }
  const preferred = preferences.maxPageSize ?? state.pageSize;
  const following = { request, query, dependences, size: pageSizeOf(request, query, preferred) };
  exchange.timings.start('store');
  const step = await nextStep(following, state);
  const { removed, records, rows } = await readChangedRecords(following, step.keys);
  exchange.timings.start('encode');
  const token = sealDelta(seal, { ...step.next, view: state.view, pageSize: preferred });
  const link = deltaLink(exchange, token);
  const head = contextMember(request, `#${query.resource.name}${contextFields(query)}/$delta`);
  const between = removed.length > 0 && rows > 0 ? ',' : '';
  // Nulls are always included, because a null may be the change.
  const pageSize = preferred === following.size ? preferred : undefined;
  const applied = preferenceHeaders({ ...preferences, omitNulls: false }, pageSize);
  return {
    status: 200,
    headers: { 'content-type': resoJson(request), ...applied },
    body: [
      openJsonObject(head, '"value":['),
      removed.join(',') + between,
      records,
      closeCollection(step.isLevel ? { delta: link } : { next: link }),
    ],
    rows: rows + removed.length,
  };
}

/** The query of the link; undefined if the key may no longer use a name in it. */
function bindQueryOfLink(
  { options, session }: ResoRequest,
  path: CollectionPath,
): CollectionQuery | undefined {
  try {
    return withKeySelected(bindOptions('delta', options, path.resource, session.view.schema));
  } catch {
    return undefined;
  }
}

/** The number of rows of a page: the preferred number, within the limits of the surface and of the expansions. */
function pageSizeOf(
  { exchange }: ResoRequest,
  { expansions }: CollectionQuery,
  preferred: number | undefined,
): number {
  const { defaultSize, largestSize } = exchange.surface.paging;
  const most = Math.floor(MAX_RELATED / Math.max(1, estimateRelatedRecords(expansions)));
  return Math.max(1, Math.min(preferred ?? defaultSize, largestSize, most));
}
