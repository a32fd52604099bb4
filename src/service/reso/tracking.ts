/**
 * Tracks the changes of walks (OData 4.01 protocol, 8.2.8.7 and 11.3): determines which collections can be tracked, where the delta
 * of a walk begins, and what its token is bound to. It must not know how a delta is read.
 */
import { hash } from 'node:crypto';
import { tracksChanges } from '../../access/index.ts';
import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type Dependencies, dependenciesOf } from '../../query/dependencies.ts';
import { parseQueryOptions, type RawOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import type { CollectionQuery } from '../../query/request.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import type { Session } from '../exchange.ts';
import { negotiateVersion } from '../http/negotiation.ts';
import { type DeltaSeal, openDelta, sealDelta } from './delta-token.ts';
import { carriedDeltaToken, queryOfDelta } from './next-page.ts';
import type { ResoRequest } from './resource-request.ts';

type CollectionPath = ResourcePath & { readonly kind: 'collection' };

/** A walk whose last page returns a delta link. */
interface Tracking {
  readonly token: string;
  /** Whether the walk begins with this page. */
  readonly begins: boolean;
}

/** Whether a path is an entity set; only the changes of entity sets can be tracked. */
export const isEntitySet = ({ root, steps }: CollectionPath): boolean =>
  root.key === undefined && steps.length === 0;

/**
 * The tracking of the walk that a page belongs to; undefined if it was not requested, or if the changes of the query cannot be
 * tracked, in which case the preference is not applied. The position at which the delta begins is read before the first page.
 * @throws PlatError `deltaTokenInvalid` if the link was modified
 */
export async function trackingOf(
  request: ResoRequest,
  path: CollectionPath,
  query: CollectionQuery,
): Promise<Tracking | undefined> {
  const { exchange, preferences, context, session } = request;
  const carried = carriedDeltaToken(exchange.query);
  if (carried === undefined && !preferences.trackChanges) return undefined;
  const seal = sealOf(request, path, parseQueryOptions(queryOfDelta(exchange.query)));
  if (carried !== undefined) {
    if (!isEntitySet(path) || openDelta(seal, carried) === undefined)
      throw platError('deltaTokenInvalid', {});
    return { token: carried, begins: false };
  }
  if (!isFirst(query) || !canTrack(request, path, query)) return undefined;
  const end = await context.store.feed({ since: 'end', limit: 1 });
  const state = { position: end.position, view: viewName(session, query), pageSize: preferences.maxPageSize };
  return { token: sealDelta(seal, state), begins: true };
}

const isFirst = ({ skipToken }: CollectionQuery): boolean => skipToken === undefined || skipToken === '';

function canTrack(request: ResoRequest, path: CollectionPath, query: CollectionQuery): boolean {
  if (!isEntitySet(path) || !tracksChanges(request.session.view, query.resource)) return false;
  return !exceedsOData40(request, query) && dependencesIn(request.session, query) !== undefined;
}

/** Whether a delta would contain related records in a form that OData 4.0 does not have. */
export const exceedsOData40 = ({ exchange }: ResoRequest, { expansions }: CollectionQuery): boolean =>
  expansions.length > 0 && negotiateVersion(exchange.headers) === '4.0';

export const dependencesIn = ({ model, view }: Session, query: CollectionQuery): Dependencies | undefined =>
  dependenciesOf(query, {
    resource: model.resource,
    fieldsOf: view.fieldsOf,
    joins: model.settings.agentsFrom === 'records',
  });

/** What a token is bound to. @param options the options that the link retains */
export function sealOf(
  { context, session }: Pick<ResoRequest, 'context' | 'session'>,
  { resource }: CollectionPath,
  { system, aliases, custom }: RawOptions,
): DeltaSeal {
  const options = [...system].filter(([name]) => name !== 'deltatoken').toSorted();
  const query = JSON.stringify([resource.resource.name, options, [...aliases].toSorted(), custom.toSorted()]);
  return { secret: context.store.secret, keyId: session.key.id, query };
}

/**
 * Identifies everything except the records that determines what a key sees of a query. If it changes, a copy may be outdated
 * although no record has changed.
 */
export function viewName({ key, model, view }: Session, { resource, expansions }: CollectionQuery): string {
  const { settings } = model;
  const resources = [resource, ...expansions.map(({ query }) => query.resource)];
  const hidden = (fields: Iterable<Field>): string[] =>
    [...fields].filter((field) => !view.role.seesField(field)).map(({ name }) => name);
  const decides = [
    [view.role.bit, settings.access.roles.find(({ name }) => name === key.role), settings.access.withheld],
    [key.systems.toSorted(), view.enumerations, settings.agentsFrom, returnsOwnTimestamps(settings)],
    resources.map(({ fields }) => hidden(fields.values())),
  ];
  return hash('sha256', JSON.stringify(decides), 'base64url').slice(0, 16);
}
