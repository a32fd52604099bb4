/** The sub-resources of a listing, such as its photos, and open houses of all listings. */
import type { RecordQuery, Shape } from '../../compile/read.ts';
import { fieldsOfMembers, partMembers } from '../../compile/text/native-parts.ts';
import { type NativePart, nearestName, rowOfPart } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type NativeNames, resourceNames } from '../../query/native/names.ts';
import type { NativeRequest } from '../../query/native/request.ts';
import type { ResourceSchema } from '../../query/schema.ts';
import { queryContext, type Reply, signingFor } from '../exchange.ts';
import { indexHeaders } from '../paging/read-page.ts';
import { readListing, recordPage } from './listings.ts';
import {
  bindRequest,
  memberNames,
  type NativeExchange,
  type RoutedExchange,
  refuseParameters,
  taggedResult,
} from './native-request.ts';

/** `/v1/listings/<key>/photos` and the other collections of parts: complete, unless the request has a limit. */
export async function parts(request: RoutedExchange, key: string, part: NativePart): Promise<Reply> {
  await readListing(request, key);
  const { others: most } = request.exchange.surface.paging.nativeLimit;
  const asked = bindRequest(request, memberNames(part, membersOf(part)), { expansions: [] }, { most });
  const page = {
    query: partQuery(request, key, part),
    shape: nativePartShape(key, part, asked),
    usual: undefined,
  };
  return (await recordPage(request, asked, page)).reply;
}

/** `/v1/listings/<key>/photos/<id>` and the other parts by their id. */
export async function part(
  request: RoutedExchange,
  key: string,
  name: NativePart,
  id: string,
): Promise<Reply> {
  const { store, read } = request.context;
  const asked = bindRequest(request, memberNames(name, membersOf(name)));
  await readListing(request, key);
  const query = { ...queryContext(request.session), ...partQuery(request, key, name) };
  const shape = nativePartShape(key, name, asked);
  const body = await store.record({ query, key: id, shape, files: signingFor(request) }, read);
  if (body === undefined) throw platError('recordNotFound', { resource: name.slice(0, -1) });
  return taggedResult(request, body);
}

const nativePartShape = (
  listing: string | undefined,
  part: NativePart,
  { selection }: NativeRequest,
): Shape => {
  return { kind: 'native-part', part, listing, members: selection.all ? undefined : selection.names };
};

function partQuery(
  { session: { view } }: NativeExchange,
  key: string,
  part: NativePart,
): Pick<RecordQuery, 'resource' | 'under' | 'part'> {
  const navigation = view.schema.of('Property').findNavigation(rowOfPart(part).navigation);
  if (navigation === undefined) throw platError('resourceUnknown', { name: part });
  return { resource: view.schema.of(navigation.target).resource, under: { navigation, key }, part };
}

/** `/v1/listings/<key>/customfields`: the custom fields of a listing, in the form of the expansion. */
export async function customFields(request: RoutedExchange, key: string): Promise<Reply> {
  refuseParameters(request, 'customfields');
  const body = await readListing(request, key, { expansions: ['CustomFields'] });
  const record: { CustomFields: unknown[] } = JSON.parse(Buffer.from(body).toString());
  return taggedResult(request, record.CustomFields.map((each) => JSON.stringify(each)).join(','));
}

const membersOf = (part: NativePart): string[] => [...partMembers(part).keys()];

const OPEN_HOUSES = 'openhouses';
const OPEN_HOUSE_MEMBERS = [...membersOf(OPEN_HOUSES), 'ListingKey'];

const FIELD_OF = fieldsOfMembers('OpenHouse');

/** @throws PlatError `resourceUnknown` if the key sees no open houses */
export function openHouseResource({ session: { view } }: NativeExchange): ResourceSchema {
  const houses = view.schema.find('OpenHouse');
  if (houses === undefined) throw platError('resourceUnknown', { name: OPEN_HOUSES });
  return houses;
}

/** The names of open houses: the members of the native interface, and the fields. */
export function openHouseNames(request: NativeExchange): NativeNames {
  const names = resourceNames(OPEN_HOUSES, openHouseResource(request), request.session.view.schema);
  return {
    ...names,
    find: (name) => names.find(FIELD_OF.get(name) ?? name),
    always: ['ResourceUri'],
    names: () => [...OPEN_HOUSE_MEMBERS, ...names.names()],
  };
}

/** `/v1/openhouses`: the open houses of all listings that the key sees, each with the key of its listing. */
export async function openHouses(request: RoutedExchange): Promise<Reply> {
  const { default: usual, others: most } = request.exchange.surface.paging.nativeLimit;
  const asked = bindRequest(request, openHouseNames(request), { expansions: [] }, { most, default: usual });
  requireMembers(asked);
  const shape = nativePartShape(undefined, OPEN_HOUSES, asked);
  const { reply, answer } = await recordPage(request, asked, {
    query: { resource: openHouseResource(request).resource },
    shape,
    usual,
  });
  return { ...reply, headers: { ...reply.headers, ...indexHeaders(answer) } };
}

/** @throws PlatError `fieldUnknown` if a selected name is a field but not a member of an open house */
function requireMembers({ selection }: NativeRequest): void {
  const name = selection.names.find((each) => !OPEN_HOUSE_MEMBERS.includes(each));
  if (selection.all || name === undefined) return;
  const nearest = nearestName(name, OPEN_HOUSE_MEMBERS);
  const facts = { name, nearest, resource: OPEN_HOUSES, option: '_select' };
  throw platError('fieldUnknown', facts, { target: '_select' });
}
