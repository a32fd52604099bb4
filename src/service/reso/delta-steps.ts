/**
 * Finds the records that may have changed since a position in the sequence of changes: the records that the sequence names, and
 * those that navigate to records that it names. It must not know their current state.
 */
import { keyField } from '../../dictionary/index.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { Dependencies, Dependency } from '../../query/dependencies.ts';
import type { CollectionQuery } from '../../query/request.ts';
import { allOf, type Expression, fieldOf } from '../../query/tree.ts';
import type { FeedPage, FeedRequest } from '../../store/changes/change-feed.ts';
import type { DeltaPlace, DeltaState } from './delta-token.ts';
import { deltaLink } from './next-page.ts';
import { keyLiteral, readKeys } from './record-keys.ts';
import type { ResoRequest } from './resource-request.ts';

/** The maximum number of chunks of the sequence that one request reads. */
const MOST_PARTS = 10;

/** What every step of a delta needs. */
export interface DeltaContext {
  readonly request: ResoRequest;
  readonly query: CollectionQuery;
  readonly dependences: Dependencies;
  readonly size: number;
}

/** Records that may have changed, and where the delta continues after them. */
interface Step {
  readonly keys: readonly string[];
  readonly next: DeltaPlace;
  /** Whether no further change follows. */
  readonly isLevel: boolean;
}

/** The error for a position after which some changes are no longer stored. It names the URL of the whole collection. */
export const deltaGone = ({ exchange }: ResoRequest): PlatError =>
  platError('deltaGone', {}, { goOn: { kind: 'address', address: deltaLink(exchange) } });

/**
 * Reads the sequence until a page is full or no change follows, so that the page boundaries reveal nothing about changes that the
 * key does not see.
 *
 * @throws PlatError `deltaGone`
 */
export async function nextStep(following: DeltaContext, { position, rest }: DeltaState): Promise<Step> {
  const keys = new Set<string>();
  let place: DeltaPlace = { position, rest };
  for (let part = 0; part < MOST_PARTS; part++) {
    const remaining = following.size - keys.size;
    // A full page is the last one if no change that the key sees follows.
    const step = await (place.rest === undefined ? changedDirectly : changedThroughLinks)(
      following,
      place,
      Math.max(1, remaining),
    );
    if (remaining === 0 && step.keys.length > 0) break;
    for (const key of step.keys) keys.add(key);
    place = step.next;
    if (step.isLevel) return { keys: [...keys], next: place, isLevel: true };
  }
  return { keys: [...keys], next: place, isLevel: false };
}

/** The records of the collection that have entries of their own in the sequence. */
async function changedDirectly(
  following: DeltaContext,
  { position }: DeltaPlace,
  limit: number,
): Promise<Step> {
  const { query, dependences } = following;
  const own = query.resource.name;
  const page = await readFeed(following, position, [own], limit);
  const { changes } = page;
  const keys = new Set(changes.filter(({ resource }) => resource === own).map(({ key }) => key));
  const hasRelatedChanges = changes.some(({ resource }) =>
    dependences.all.some((each) => each.resource === resource),
  );
  const rest = hasRelatedChanges ? { upTo: page.position, count: changes.length, after: '' } : undefined;
  return {
    keys: [...keys],
    next: rest === undefined ? { position: page.position } : { position, rest },
    isLevel: page.isLevel && !hasRelatedChanges,
  };
}

/** The records of the collection that navigate to records that have changed. */
async function changedThroughLinks(
  following: DeltaContext,
  { position, rest }: DeltaPlace,
  limit: number,
): Promise<Step> {
  if (rest === undefined) throw new Error('The position has no remaining records');
  const { query, dependences } = following;
  const page = await readFeed(following, position, [], rest.count);
  const changed = page.changes.filter(({ sequence }) => sequence <= rest.upTo.sequence);
  const terms = dependences.all.flatMap((each) => {
    const keys = new Set(changed.filter(({ resource }) => resource === each.resource).map(({ key }) => key));
    return keys.size === 0 ? [] : [isLinkedToChanged(following, each, [...keys])];
  });
  const end: Step = { keys: [], next: { position: rest.upTo }, isLevel: false };
  if (terms.length === 0) return end;
  // If the related records do not affect which records match, a record that does not match now did not match before.
  const filter = allOf(dependences.decide ? undefined : query.filter, { kind: 'or', terms });
  const { keys, more } = await readKeys(following, { filter }, { after: rest.after, limit });
  const last = keys.at(-1);
  if (!more || last === undefined) return { ...end, keys };
  return { keys, next: { position, rest: { ...rest, after: last } }, isLevel: false };
}

/**
 * @param own the resources whose changes are returned if the key sees the records
 * @throws PlatError `deltaGone`
 */
async function readFeed(
  { request, dependences }: DeltaContext,
  since: FeedRequest['since'],
  own: readonly string[],
  limit: number,
): Promise<FeedPage & { readonly kind: 'changes' }> {
  const of = (isJoined: boolean): string[] =>
    dependences.all.filter((each) => each.isJoined === isJoined).map(({ resource }) => resource);
  const { context, session } = request;
  const page = await context.store.feed({
    since,
    scope: session.view.scope,
    resources: [...new Set([...own, ...of(false)])],
    shown: [...new Set(of(true))],
    limit,
  });
  if (page.kind === 'gone') throw deltaGone(request);
  return page;
}

/**
 * The condition that a record navigates to one of the changed records; if the link does not contain their keys, that it navigates
 * to any record.
 */
function isLinkedToChanged(
  { request }: DeltaContext,
  { resource, via, link, isByKey }: Dependency,
  keys: readonly string[],
): Expression {
  const field = fieldOf(link, via);
  if (!isByKey) {
    const right = { kind: 'literal', type: 'null', value: null } as const;
    return { kind: 'compare', operator: 'ne', left: field, right };
  }
  const isNumber = keyField(request.session.model.resource(resource)).type.kind === 'integer';
  return { kind: 'in', operand: field, values: keys.map((each) => keyLiteral(each, isNumber)) };
}
