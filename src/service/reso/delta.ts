/**
 * A page of a delta: what has changed in a collection since a walk through it (OData 4.01 protocol, 11.3; JSON format 4.01, 15). It
 * must not know how the changed records are found, or how tokens are made.
 */
import { platError } from '../../errors/index.ts';
import { bindOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { MAX_RELATED, relatedRecords } from '../../query/related-records.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { Reply } from '../exchange.ts';
import { changedRecords } from './delta-records.ts';
import { deltaGone, type Following, nextStep } from './delta-steps.ts';
import { openDelta, sealDelta } from './delta-token.ts';
import { deltaLink } from './next-page.ts';
import {
  begun,
  contextFields,
  contextMember,
  ended,
  preferenceHeaders,
  type ResoRequest,
  resoJson,
  withKey,
} from './resource-request.ts';
import { dependencesIn, isNestedForm, sealOf, viewName } from './tracking.ts';

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
  const query = boundAsBefore(request, path);
  const dependences = query && dependencesIn(session, query);
  if (query === undefined || dependences === undefined || viewName(session, query) !== state.view) {
    throw deltaGone(request);
  }
  if (isNestedForm(request, query)) {
    throw platError('notImplemented', { option: 'OData-Version', what: '4.0 with $expand in a delta' });
  }
  const preferred = preferences.maxPageSize ?? state.pageSize;
  const following = { request, query, dependences, size: sizeOf(request, query, preferred) };
  exchange.timings.start('store');
  const step = await nextStep(following, state);
  const { removed, records, rows } = await changedRecords(following, step.keys);
  exchange.timings.start('encode');
  const token = sealDelta(seal, { ...step.next, view: state.view, pageSize: preferred });
  const link = deltaLink(exchange, token);
  const head = contextMember(request, `#${query.resource.name}${contextFields(query)}/$delta`);
  const between = removed.length > 0 && rows > 0 ? ',' : '';
  // Nulls are always included: a null may be the change.
  const applied = preferenceHeaders(
    { ...preferences, omitNulls: false },
    pageSizeApplied(preferred, following),
  );
  return {
    status: 200,
    headers: { 'content-type': resoJson(request), ...applied },
    body: [
      begun(head, '"value":['),
      removed.join(',') + between,
      records,
      ended(step.isLevel ? { delta: link } : { next: link }),
    ],
    rows: rows + removed.length,
  };
}

const pageSizeApplied = (preferred: number | undefined, { size }: Following): number | undefined =>
  preferred === size ? size : undefined;

/** The query of the link; undefined if the key may no longer use a name in it. */
function boundAsBefore({ options, session }: ResoRequest, path: CollectionPath): CollectionQuery | undefined {
  try {
    return withKey(bindOptions('delta', options, path.resource, session.view.schema));
  } catch {
    return undefined;
  }
}

/** Rows of a page: the preferred number, within the limits of the surface and of what can be read with the expansions. */
function sizeOf(
  { exchange }: ResoRequest,
  { expansions }: CollectionQuery,
  preferred: number | undefined,
): number {
  const { defaultSize, largestSize } = exchange.surface.paging;
  const most = Math.floor(MAX_RELATED / Math.max(1, relatedRecords(expansions)));
  return Math.max(1, Math.min(preferred ?? defaultSize, largestSize, most));
}
