/**
 * What has changed in a collection since a walk through it (OData 4.01 protocol, 11.3; JSON format 4.01, 15): a page of the
 * sequence of changes, and the records that it names as they are now. Those that the key sees and that match are given whole;
 * the others are removed: `deleted` where the key sees none any more, and `changed` where it does. It must not know how tokens
 * are made.
 */
import type { RecordQuery, ResoShape } from '../../compile/read.ts';
import { platError } from '../../errors/index.ts';
import type { Dependence, Dependences } from '../../query/dependences.ts';
import { bindOptions } from '../../query/odata/query.ts';
import type { ResourcePath } from '../../query/odata/resource-path.ts';
import { MAX_RELATED, relatedRecords } from '../../query/related-records.ts';
import type { CollectionQuery } from '../../query/request.ts';
import type { Expression, Literal } from '../../query/tree.ts';
import { keyText } from '../../records/parsed-record.ts';
import type { FeedPage, FeedRequest } from '../../store/change-feed.ts';
import { asking, type Part, type Reply, recordsOf, signingFor } from '../exchange.ts';
import { negotiateVersion } from '../http/negotiation.ts';
import { owned } from '../paging/read-page.ts';
import { resoError } from '../reply/errors.ts';
import { type DeltaPlace, type DeltaState, openDelta, sealDelta } from './delta-token.ts';
import { asConfigured } from './enumerations.ts';
import { deltaLink } from './next-page.ts';
import {
  begun,
  contextFields,
  contextMember,
  ended,
  preferenceHeaders,
  type ResoRequest,
  resoJson,
  shapeOf,
  withKey,
} from './resource-request.ts';
import { dependencesIn, isNestedForm, sealOf, viewName } from './tracking.ts';

type CollectionPath = ResourcePath & { readonly kind: 'collection' };

/** Parts of the sequence that a request reads at the most. */
const MOST_PARTS = 10;

/** What every step of a delta needs. */
interface Following {
  readonly request: ResoRequest;
  readonly query: CollectionQuery;
  readonly dependences: Dependences;
  readonly size: number;
}

/** Some records that may have changed, and where the delta goes on behind them. */
interface Step {
  readonly keys: readonly string[];
  readonly next: DeltaPlace;
  /** Whether nothing is known to follow. */
  readonly isLevel: boolean;
}

/**
 * Answers a delta link of an entity set.
 * @throws PlatError `deltaTokenInvalid` for a token that was not given to this key with these options
 */
export async function delta(request: ResoRequest, path: CollectionPath): Promise<Reply> {
  const { options, session, preferences, exchange } = request;
  const seal = sealOf(request, path, options);
  const state = openDelta(seal, options.system.get('deltatoken') ?? '');
  if (state === undefined) throw platError('deltaTokenInvalid', {});
  const query = boundAsBefore(request, path);
  const dependences = query && dependencesIn(session, query);
  if (query === undefined || dependences === undefined || viewName(session, query) !== state.view) {
    return gone(request);
  }
  if (isNestedForm(request, query)) {
    throw platError('notImplemented', { option: 'OData-Version', what: '4.0 with $expand in a delta' });
  }
  const preferred = preferences.maxPageSize ?? state.pageSize;
  const following = { request, query, dependences, size: sizeOf(request, query, preferred) };
  exchange.timings.start('store');
  const step = await nextStep(following, state);
  if (step === undefined) return gone(request);
  const { removed, records, rows } = await readAll(following, step.keys);
  exchange.timings.start('encode');
  const token = sealDelta(seal, { ...step.next, view: state.view, pageSize: preferred });
  const link = deltaLink(exchange, token);
  const head = contextMember(request, `#${query.resource.name}${contextFields(query)}/$delta`);
  const between = removed.length > 0 && rows > 0 ? ',' : '';
  // A null is what has become of a value.
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

/** What the link asks for; undefined where the key cannot name it any more. */
function boundAsBefore({ options, session }: ResoRequest, path: CollectionPath): CollectionQuery | undefined {
  try {
    return withKey(bindOptions('delta', options, path.resource, session.view.schema));
  } catch {
    return undefined;
  }
}

/** The answer where changes are no longer known: the address is that of the whole collection. */
function gone({ exchange }: ResoRequest): Reply {
  return resoError(platError('deltaGone', {}), { location: deltaLink(exchange) });
}

/** Rows of a page: as many as the surface and the client want, and not more than can be read with their expansions. */
function sizeOf(
  { exchange }: ResoRequest,
  { expansions }: CollectionQuery,
  preferred: number | undefined,
): number {
  const { defaultSize, largestSize } = exchange.surface.paging;
  const most = Math.floor(MAX_RELATED / Math.max(1, relatedRecords(expansions)));
  return Math.max(1, Math.min(preferred ?? defaultSize, largestSize, most));
}

/**
 * Reads parts of the sequence until a page is full or nothing follows, so that where pages end says nothing of changes that the
 * key does not see.
 * @returns undefined where changes are no longer known
 */
async function nextStep(following: Following, { position, rest }: DeltaState): Promise<Step | undefined> {
  const keys = new Set<string>();
  let place: DeltaPlace = { position, rest };
  for (let part = 0; part < MOST_PARTS; part++) {
    const room = following.size - keys.size;
    // A full page is the last one where nothing that the key sees follows.
    const step = await (place.rest === undefined ? changedHere : ledHere)(
      following,
      place,
      Math.max(1, room),
    );
    if (step === undefined) return undefined;
    if (room === 0 && step.keys.length > 0) break;
    for (const key of step.keys) keys.add(key);
    place = step.next;
    if (step.isLevel) return { keys: [...keys], next: place, isLevel: true };
  }
  return { keys: [...keys], next: place, isLevel: false };
}

/** The records of the collection that have changes of their own. */
async function changedHere(
  following: Following,
  { position }: DeltaPlace,
  limit: number,
): Promise<Step | undefined> {
  const { query, dependences } = following;
  const own = query.resource.name;
  const page = await feed(following, position, [own], limit);
  if (page.kind === 'gone') return undefined;
  const { changes } = page;
  const keys = new Set(changes.filter(({ resource }) => resource === own).map(({ key }) => key));
  const leads = changes.some(({ resource }) => dependences.all.some((each) => each.resource === resource));
  const rest = leads ? { upTo: page.position, count: changes.length, after: '' } : undefined;
  return {
    keys: [...keys],
    next: rest === undefined ? { position: page.position } : { position, rest },
    isLevel: page.isLevel && !leads,
  };
}

/** The records that lead to others that have changed. */
async function ledHere(
  following: Following,
  { position, rest }: DeltaPlace,
  limit: number,
): Promise<Step | undefined> {
  if (rest === undefined) throw new Error('A place without a rest leads nowhere');
  const { query, dependences } = following;
  const page = await feed(following, position, [], rest.count);
  if (page.kind === 'gone') return undefined;
  const changed = page.changes.filter(({ sequence }) => sequence <= rest.upTo.sequence);
  const terms = dependences.all.flatMap((each) => {
    const keys = new Set(changed.filter(({ resource }) => resource === each.resource).map(({ key }) => key));
    return keys.size === 0 ? [] : [leadsTo(following, each, [...keys])];
  });
  const end: Step = { keys: [], next: { position: rest.upTo }, isLevel: false };
  if (terms.length === 0) return end;
  // Where they do not decide which records match, those that do not match now did not before.
  const matching = dependences.decide || query.filter === undefined ? [] : [query.filter];
  const filter: Expression = { kind: 'and', terms: [...matching, { kind: 'or', terms }] };
  const { keys, more } = await keysOf(following, { filter }, { after: rest.after, limit });
  const last = keys.at(-1);
  if (!more || last === undefined) return { ...end, keys };
  return { keys, next: { position, rest: { ...rest, after: last } }, isLevel: false };
}

/** @param own the resources whose changes are given as far as the key sees the records */
async function feed(
  { request: { context, session }, dependences }: Following,
  since: FeedRequest['since'],
  own: readonly string[],
  limit: number,
): Promise<FeedPage> {
  const of = (isJoined: boolean): string[] =>
    dependences.all.filter((each) => each.isJoined === isJoined).map(({ resource }) => resource);
  return context.store.feed({
    since,
    scope: session.view.scope,
    resources: [...new Set([...own, ...of(false)])],
    shown: [...new Set(of(true))],
    limit,
  });
}

/** The condition that a record leads to one of some others; all that lead anywhere, where that is not known. */
function leadsTo(
  { request }: Following,
  { resource, via, link, isByKey }: Dependence,
  keys: readonly string[],
): Expression {
  const type = link.type.kind;
  const field = { kind: 'field', type, scope: 0, via, field: link } as const;
  if (!isByKey) {
    return {
      kind: 'compare',
      operator: 'ne',
      left: field,
      right: { kind: 'literal', type: 'null', value: null },
    };
  }
  const { key, fields } = request.session.model.resource(resource);
  const isNumber = fields.get(key)?.type.kind === 'integer';
  return { kind: 'in', operand: field, values: keys.map((each) => keyLiteral(each, isNumber)) };
}

const keyLiteral = (key: string, isNumber: boolean): Literal =>
  isNumber
    ? { kind: 'literal', type: 'integer', value: Number(key) }
    : { kind: 'literal', type: 'string', value: key };

/** What has become of some records. */
interface Changed {
  /** As JSON. */
  readonly removed: readonly string[];
  readonly records: Part;
  readonly rows: number;
}

async function readAll(following: Following, keys: readonly string[]): Promise<Changed> {
  const { request, query } = following;
  const { filter, search, resource } = query;
  const { context, exchange, session } = request;
  if (keys.length === 0 || !session.model.stores(resource.name)) {
    return { removed: keys.map((key) => removedEntry(following, key, 'deleted')), records: '', rows: 0 };
  }
  const limit = keys.length;
  const match = (of: readonly string[]): Pick<RecordQuery, 'filter' | 'search'> => ({
    filter: { kind: 'and', terms: [...(filter === undefined ? [] : [filter]), isOneOf(following, of)] },
    ...(search === undefined ? {} : { search }),
  });
  const matching = new Set((await keysOf(following, match(keys), { limit })).keys);
  const others = keys.filter((key) => !matching.has(key));
  const isWhole = filter === undefined && search === undefined;
  const visible =
    isWhole || others.length === 0
      ? []
      : (await keysOf(following, { filter: isOneOf(following, others) }, { limit })).keys;
  const seen = new Set(visible);
  const removed = others.map((key) => removedEntry(following, key, seen.has(key) ? 'changed' : 'deleted'));
  if (matching.size === 0) return { removed, records: '', rows: 0 };
  const read = context.store.page(
    {
      query: { ...asking(session), resource, ...match([...matching]) },
      position: { kind: 'start' },
      limit,
      shape: { ...(await shapeOf(request, query)), omitNulls: false },
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  const page = await owned(exchange.taken, read);
  return { removed, records: asConfigured(request, query, recordsOf(page)), rows: page.rows };
}

/** A record that the key has no longer, in the form of the version that the client asked for. */
function removedEntry(
  { request, query: { resource } }: Following,
  key: string,
  reason: 'deleted' | 'changed',
): string {
  const isNumber = resource.fields.get(resource.key)?.type.kind === 'integer';
  const value = isNumber ? Number(key) : key;
  if (negotiateVersion(request.exchange.headers) === '4.0') {
    const inUrl = isNumber ? String(value) : `'${encodeURIComponent(key.replaceAll("'", "''"))}'`;
    const id = `${request.root}${resource.name}(${inUrl})`;
    return JSON.stringify({
      ...contextMember(request, `#${resource.name}/$deletedEntity`),
      id,
      reason,
    });
  }
  return JSON.stringify({ '@removed': { reason }, [resource.key]: value });
}

function isOneOf({ query: { resource } }: Following, keys: readonly string[]): Expression {
  const key = keyField(resource);
  const type = key.type.kind;
  const isNumber = type === 'integer';
  const operand = { kind: 'field', type, scope: 0, via: [], field: key } as const;
  return { kind: 'in', operand, values: keys.map((each) => keyLiteral(each, isNumber)) };
}

const keyField = ({ name, key, fields }: CollectionQuery['resource']) => {
  const field = fields.get(key);
  if (field === undefined) throw new Error(`${name} has no key`);
  return field;
};

/** The keys of the records that the key sees and that match, in their order. */
async function keysOf(
  { request: { context, exchange, session, root }, query: { resource } }: Following,
  match: Pick<RecordQuery, 'filter' | 'search'>,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<{ readonly keys: readonly string[]; readonly more: boolean }> {
  if (!session.model.stores(resource.name)) return { keys: [], more: false };
  const shape: ResoShape = {
    kind: 'reso',
    selection: { all: false, fields: [keyField(resource)], hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root,
  };
  const page = await context.store.page(
    {
      query: { ...asking(session), resource, ...match },
      position: after === '' ? { kind: 'start' } : { kind: 'after-key', key: after },
      limit,
      shape,
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  const rows: Record<string, string | number>[] = JSON.parse(`[${Buffer.from(page.body).toString()}]`);
  page.release?.();
  const stored = rows.flatMap((row) => keyText(resource, row[resource.key]) ?? []);
  return { keys: stored, more: page.more };
}
