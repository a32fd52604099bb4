import type { MergedSource, RecordQuery } from '../../compile/read.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../../query/canonical.ts';
import { bindParameters, type NativeRequest } from '../../query/native/request.ts';
import { asking, type Reply, signingFor } from '../exchange.ts';
import { findIds, indexHeaders, type PageAnswer } from '../paging/read-page.ts';
import {
  ACCOUNT,
  accountFields,
  accountNames,
  accountText,
  type FlatAccount,
  USER_TYPES,
  type UserType,
  valueName,
} from './account-table.ts';
import { offsetOf, taggedResult } from './listings.ts';
import { type NativeExchange, pagination, success } from './native-request.ts';

/** A request as one kind of account understands it. */
interface Understood {
  readonly type: UserType;
  readonly asked: NativeRequest;
}

/** Rows of one kind, and how fresh their list is. */
interface Narrowed {
  readonly source: MergedSource;
  readonly index: 'fresh' | 'cached' | 'none';
  readonly age: number;
}

/** Members and Offices in one collection, by key, then Member before Office (contract, Native interface). */
export const accounts = (request: NativeExchange): Promise<Reply> =>
  accountPage(
    request,
    visibleTypes(request).map((type) => ({ type, asked: understand(request, type) })),
  );

/** `/v1/accounts/by/office/<key>`: the members of an office, whether that is shown to the key or not. */
export function accountsOfOffice(request: NativeExchange, office: string): Promise<Reply> {
  const understood = visibleTypes(request).flatMap((type): Understood[] => {
    const found = request.session.view.schema.of(type).findField('OfficeKey');
    if (type !== 'Member' || found.kind !== 'visible') return [];
    const asked = understand(request, type);
    const left = { kind: 'field', type: 'string', scope: 0, via: [], field: found.field } as const;
    const right = { kind: 'literal', type: 'string', value: office } as const;
    const theirs = { kind: 'compare', operator: 'eq', left, right } as const;
    const { filter } = asked;
    return [
      {
        type,
        asked: { ...asked, filter: filter === undefined ? theirs : { kind: 'and', terms: [theirs, filter] } },
      },
    ];
  });
  return accountPage(request, understood);
}

async function accountPage(request: NativeExchange, understood: readonly Understood[]): Promise<Reply> {
  const { context, exchange } = request;
  const asked = understood[0]?.asked;
  if (asked === undefined) throw platError('resourceUnknown', { name: 'accounts' });
  exchange.timings.start('store');
  const narrowed = await Promise.all(understood.map((each) => narrow(request, each)));
  const sources = narrowed.map(({ source }) => source);
  const size = asked.limit ?? exchange.surface.paging.nativeLimit.default;
  const skip = offsetOf(asked.position, size);
  const rows = asked.pagination === 'count' ? [] : await readAccounts(request, sources, skip, size);
  const counts =
    asked.pagination === 'none'
      ? undefined
      : await Promise.all(sources.map(({ query }) => context.store.count(query, context.read)));
  exchange.timings.start('encode');
  const total = counts?.reduce((sum, count) => sum + count, 0);
  const where = asked.position.kind === 'offset' ? { offset: skip } : { page: Math.floor(skip / size) + 1 };
  const beside = total === undefined ? {} : { pagination: pagination(total, size, where) };
  const selected = asked.selection.all ? undefined : new Set(asked.selection.names);
  const results = rows.map((row) => accountText(row, selected)).join(',');
  return success(
    [results],
    rows.length,
    beside,
    indexHeaders({ index: freshness(narrowed), openWindow: false }),
  );
}

/** How fresh the lists of both kinds are: as the first one is, and as old as the oldest. */
function freshness(narrowed: readonly Narrowed[]): PageAnswer['index'] {
  const state = narrowed[0]?.index ?? 'none';
  return { state, age: Math.max(...narrowed.map((each) => each.age)) };
}

/** `/v1/accounts/<key>`; of a key that both have, the Member. */
export async function account(request: NativeExchange, key: string): Promise<Reply> {
  const { exchange, session } = request;
  const types = visibleTypes(request);
  const understood = types.map((type) => ({ type, asked: understand(request, type, ['_select']) }));
  exchange.timings.start('store');
  const sources = understood.map(({ type }) => {
    const source = sourceOf(request, type, { ...asking(session), resource: resourceOf(request, type) });
    const identity = source.query.resource.fields.get(source.query.resource.key);
    if (identity === undefined) throw new Error(`${type} has no key field`);
    const left = { kind: 'field', type: 'string', scope: 0, via: [], field: identity } as const;
    const right = { kind: 'literal', type: 'string', value: key } as const;
    const filter = { kind: 'compare', operator: 'eq', left, right } as const;
    return { ...source, query: { ...source.query, filter } };
  });
  const [found] = await readAccounts(request, sources, 0, 1);
  if (found === undefined) throw platError('recordNotFound', { resource: 'account' });
  const selection = understood[0]?.asked.selection;
  const selected = selection === undefined || selection.all ? undefined : new Set(selection.names);
  return taggedResult(request, accountText(found, selected));
}

function visibleTypes({ session }: NativeExchange): UserType[] {
  return USER_TYPES.filter((type) => session.view.schema.find(type) !== undefined);
}

function resourceOf({ session }: NativeExchange, type: UserType) {
  return session.view.schema.of(type).resource;
}

const COLLECTION_PARAMETERS = [
  '_filter',
  '_orderby',
  '_select',
  '_limit',
  '_skip',
  '_page',
  '_pagination',
] as const;

function understand(
  { exchange, session, parameters }: NativeExchange,
  type: UserType,
  taken: readonly (typeof COLLECTION_PARAMETERS)[number][] = COLLECTION_PARAMETERS,
): NativeRequest {
  const { most, default: usual } = exchange.surface.paging.nativeLimit;
  return bindParameters(parameters, {
    names: accountNames(session.view.schema, type),
    parameters: taken,
    expansions: [],
    limit: { most, default: usual },
    now: new Date(session.now),
  });
}

/** A filter of the client's walks the list that it found first, as everywhere (specification 8). */
async function narrow(request: NativeExchange, { type, asked }: Understood): Promise<Narrowed> {
  const { context, session } = request;
  const resource = resourceOf(request, type);
  const query: RecordQuery = { ...asking(session), resource, order: asked.order };
  const { filter } = asked;
  if (filter === undefined) return { source: sourceOf(request, type, query), index: 'none', age: 0 };
  const name = { key: session.key.id, text: JSON.stringify(['accounts', type, canonicalText(filter)]) };
  const { index, state, age } = await context.indexes.take(name, () =>
    findIds(context, { ...query, filter }),
  );
  return { source: sourceOf(request, type, { ...query, among: index.ids }), index: state, age };
}

function sourceOf({ session }: NativeExchange, type: UserType, query: RecordQuery): MergedSource {
  const { schema } = session.view;
  const members = Object.keys(ACCOUNT[type]).flatMap((name) =>
    accountFields(schema, type, name).map(({ field, via }) => ({
      name: valueName(field.name, via.length > 0 ? 'office' : 'record'),
      field,
      via,
    })),
  );
  const images = schema.of(type).findNavigation('Media');
  const unique = new Map(members.map((member) => [member.name, member]));
  return { query, members: [...unique.values()], ...(images === undefined ? {} : { images }) };
}

async function readAccounts(
  { context, exchange, session }: NativeExchange,
  sources: readonly MergedSource[],
  skip: number,
  limit: number,
): Promise<FlatAccount[]> {
  const files = signingFor(context, exchange, session);
  const body = await context.store.mergedPage({ sources, skip, limit, files }, context.read);
  return JSON.parse(`[${Buffer.from(body).toString()}]`);
}
