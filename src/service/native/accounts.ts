/** Members and Offices as the accounts of the native interface: one collection over both resources. */
import type { MergedSource, RecordQuery } from '../../compile/read.ts';
import { type Field, keyField } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../../query/canonical.ts';
import type { NativeNames } from '../../query/native/names.ts';
import type { NativeRequest } from '../../query/native/request.ts';
import { allOf, type Comparison, fieldOf } from '../../query/tree.ts';
import { queryContext, type Reply, signingFor } from '../exchange.ts';
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
import { offsetOf, pageOrOffset } from './listings.ts';
import {
  bindRequest,
  type NativeExchange,
  pagination,
  type RoutedExchange,
  successReply,
  taggedResult,
} from './native-request.ts';

interface BoundAccounts {
  readonly type: UserType;
  readonly names: NativeNames;
  readonly asked: NativeRequest;
}

/** The rows of one kind that match the filter, and the freshness of their list. */
interface FilteredSource {
  readonly source: MergedSource;
  readonly index: PageAnswer['index'];
}

/** Binds a request to each kind of account that the key sees. @throws PlatError as in `bindRequest` */
export const bindAccounts = (request: RoutedExchange): BoundAccounts[] =>
  visibleTypes(request).map((type) => {
    const names = accountNames(request.session.view.schema, type);
    return { type, names, asked: bindRequest(request, names) };
  });

const visibleTypes = ({ session }: NativeExchange): UserType[] =>
  USER_TYPES.filter((type) => session.view.schema.find(type) !== undefined);

/** `/v1/accounts`, by key, then Member before Office (contract, Native interface). */
export const accounts = (request: RoutedExchange): Promise<Reply> =>
  accountPage(request, bindAccounts(request));

/** `/v1/accounts/by/office/<key>`: the members of an office, even if the key does not see the office itself. */
export function accountsOfOffice(request: RoutedExchange, office: string): Promise<Reply> {
  const understood = bindAccounts(request).flatMap(({ type, names, asked }): BoundAccounts[] => {
    const found = request.session.view.schema.of(type).findField('OfficeKey');
    if (type !== 'Member' || found.kind !== 'visible') return [];
    const filter = allOf(equals(found.field, office), asked.filter);
    return [{ type, names, asked: { ...asked, filter } }];
  });
  return accountPage(request, understood);
}

/** What was requested, which is the same for both kinds. @throws PlatError `resourceUnknown` if the key sees neither kind */
function askedOf([first]: readonly BoundAccounts[]): NativeRequest {
  if (first === undefined) throw platError('resourceUnknown', { name: 'accounts' });
  return first.asked;
}

const equals = (field: Field, value: string): Comparison => ({
  kind: 'compare',
  operator: 'eq',
  left: fieldOf(field),
  right: { kind: 'literal', type: 'string', value },
});

async function accountPage(request: RoutedExchange, understood: readonly BoundAccounts[]): Promise<Reply> {
  const { context, exchange } = request;
  const asked = askedOf(understood);
  exchange.timings.start('store');
  const narrowed = await Promise.all(understood.map((each) => applyFilter(request, each)));
  const sources = narrowed.map(({ source }) => source);
  const { position, limit: size = exchange.surface.paging.nativeLimit.default } = asked;
  const skip = offsetOf(position, size);
  const rows = asked.pagination === 'count' ? [] : await readAccounts(request, sources, skip, size);
  const counts =
    asked.pagination === 'none'
      ? undefined
      : await Promise.all(sources.map(({ query }) => context.store.count(query, context.read)));
  exchange.timings.start('encode');
  const total = counts?.reduce((sum, count) => sum + count, 0);
  const shown = total === undefined ? undefined : pagination(total, size, pageOrOffset(position, 0, size));
  const texts = rows.map((row) => accountText(row, selectedOf(asked))).join(',');
  const headers = indexHeaders({ index: freshness(narrowed), openWindow: false });
  const reply = successReply([texts], rows.length, { pagination: shown }, headers);
  if (asked.filter !== undefined || asked.order.length > 0) return reply;
  const step = {
    from: skip > 0 ? `skip ${skip}` : '',
    reached: [`skip ${skip + rows.length}`],
    ended: rows.length < size,
  };
  return { ...reply, reading: { resource: 'accounts', of: 'records', step } };
}

const selectedOf = ({ selection }: NativeRequest): ReadonlySet<string> | undefined =>
  selection.all ? undefined : new Set(selection.names);

/** The freshness of both lists together: the state of the first list, and the age of the older one. */
const freshness = (narrowed: readonly FilteredSource[]): PageAnswer['index'] => ({
  state: narrowed[0]?.index.state ?? 'none',
  age: Math.max(...narrowed.map(({ index }) => index.age)),
});

/** `/v1/accounts/<key>`. If both kinds have the key, the Member is returned. */
export async function account(request: RoutedExchange, key: string): Promise<Reply> {
  const understood = bindAccounts(request);
  const asked = askedOf(understood);
  request.exchange.timings.start('store');
  const sources = understood.map(({ type }) => {
    const source = sourceOf(request, type, {});
    const filter = equals(keyField(source.query.resource), key);
    return { ...source, query: { ...source.query, filter } };
  });
  const [found] = await readAccounts(request, sources, 0, 1);
  if (found === undefined) throw platError('recordNotFound', { resource: 'account' });
  return taggedResult(request, accountText(found, selectedOf(asked)));
}

/**
 * Applies the filter of the client. As in every collection, all pages come from the list that the first request with the filter
 * found (specification 8).
 */
async function applyFilter(request: NativeExchange, { type, asked }: BoundAccounts): Promise<FilteredSource> {
  const { context, session } = request;
  const { filter, order } = asked;
  const unfiltered = sourceOf(request, type, { order });
  if (filter === undefined) return { source: unfiltered, index: { state: 'none', age: 0 } };
  const name = { key: session.key.id, text: JSON.stringify(['accounts', type, canonicalText(filter)]) };
  const { index, state, age } = await context.indexes.getOrMake(name, () =>
    findIds(context, { ...unfiltered.query, filter, order: [] }),
  );
  return {
    source: { ...unfiltered, query: { ...unfiltered.query, among: index.ids } },
    index: { state, age },
  };
}

/** All accounts of a kind that the key sees. */
function sourceOf(
  { session }: NativeExchange,
  type: UserType,
  query: Pick<Partial<RecordQuery>, 'order'>,
): MergedSource {
  const { schema } = session.view;
  const { resource } = schema.of(type);
  const members = Object.keys(ACCOUNT[type]).flatMap((name) =>
    accountFields(schema, type, name).map(({ field, via }) => ({
      name: valueName(field.name, via.length > 0 ? 'office' : 'record'),
      field,
      via,
    })),
  );
  const images = schema.of(type).findNavigation('Media');
  const unique = new Map(members.map((member) => [member.name, member]));
  return {
    query: { ...queryContext(session), resource, ...query },
    members: [...unique.values()],
    images,
  };
}

async function readAccounts(
  request: NativeExchange,
  sources: readonly MergedSource[],
  skip: number,
  limit: number,
): Promise<FlatAccount[]> {
  const { store, read } = request.context;
  const body = await store.mergedPage({ sources, skip, limit, files: signingFor(request) }, read);
  return JSON.parse(`[${Buffer.from(body).toString()}]`);
}
