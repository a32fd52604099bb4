import type { RecordQuery, Shape } from '../../compile/read.ts';
import { partMembers } from '../../compile/text/native-parts.ts';
import { type NativePart, type Navigation, rowOfPart } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { NativeNames } from '../../query/native/names.ts';
import { bindParameters, type NativeRequest } from '../../query/native/request.ts';
import { asking, partsOf, type Reply, signingFor } from '../exchange.ts';
import { readPage } from '../paging/read-page.ts';
import { listingResource, offsetOf, taggedResult } from './listings.ts';
import { type NativeExchange, noNames, pagination, refuseParameters, success } from './native-request.ts';

/** Sub-resources come whole: more rows than a store can hold. */
const WHOLE = 2 ** 40;

/** `/v1/listings/<key>/photos` and its like. */
export async function parts(request: NativeExchange, key: string, part: NativePart): Promise<Reply> {
  const { context, exchange, session, parameters } = request;
  await requireListing(request, key);
  const { others } = exchange.surface.paging.nativeLimit;
  const asked = bindParameters(parameters, {
    names: memberNames(part),
    parameters: ['_select', '_limit', '_skip', '_page', '_pagination'],
    expansions: [],
    limit: { most: others },
    now: new Date(session.now),
  });
  exchange.timings.start('store');
  const size = asked.limit ?? WHOLE;
  const answer = await readPage(context, {
    keyId: session.key.id,
    query: partQuery(request, key, part),
    limit: asked.pagination === 'count' ? 0 : size,
    skip: offsetOf(asked.position, size),
    shape: shapeOf(key, part, asked),
    files: signingFor(context, exchange, session),
    counts: asked.pagination !== 'none',
    taken: exchange.taken,
  });
  const { page, count } = answer;
  const { position } = asked;
  const where =
    position.kind === 'offset'
      ? { offset: position.offset }
      : { page: position.kind === 'page' ? position.page : 1 };
  const shown = count === undefined ? undefined : pagination(count, asked.limit ?? Math.max(1, count), where);
  return success(partsOf(page), page.rows, { pagination: shown });
}

/** `/v1/listings/<key>/photos/<id>` and its like. */
export async function part(
  request: NativeExchange,
  key: string,
  name: NativePart,
  id: string,
): Promise<Reply> {
  const { context, exchange, session } = request;
  const asked = bindParameters(request.parameters, {
    names: memberNames(name),
    parameters: ['_select'],
    expansions: [],
    limit: { most: 1 },
    now: new Date(session.now),
  });
  await requireListing(request, key);
  const query = partQuery(request, key, name);
  const shape = shapeOf(key, name, asked);
  const files = signingFor(context, exchange, session);
  const body = await context.store.record({ query, key: id, shape, files }, context.read);
  if (body === undefined) throw platError('recordNotFound', { resource: name.slice(0, -1) });
  return taggedResult(request, body);
}

/** The members of a sub-resource: they can be selected, nothing else. */
function memberNames(part: NativePart): NativeNames {
  const members = partMembers(part);
  return {
    ...noNames(part),
    find: (name) => (members.includes(name) ? { kind: 'constant', text: '' } : { kind: 'unknown' }),
    names: () => members,
  };
}

const shapeOf = (listing: string, part: NativePart, { selection }: NativeRequest): Shape => ({
  kind: 'native-part',
  part,
  listing,
  ...(selection.all ? {} : { members: selection.names }),
});

function partQuery({ session }: NativeExchange, key: string, part: NativePart): RecordQuery {
  const navigation = navigationOf(session, part);
  const resource = session.view.schema.of(navigation.target).resource;
  return { ...asking(session), resource, under: { navigation, key }, part };
}

function navigationOf({ view }: NativeExchange['session'], part: NativePart): Navigation {
  const navigation = view.schema.of('Property').findNavigation(rowOfPart(part).navigation);
  if (navigation === undefined) throw platError('resourceUnknown', { name: part });
  return navigation;
}

/** @throws PlatError `recordNotFound`, the same for a hidden listing as for one that is not there (I4) */
async function requireListing(request: NativeExchange, key: string): Promise<void> {
  const { context, exchange, session } = request;
  const resource = listingResource(request);
  const identity = resource.fields.get(resource.key);
  const selection = { all: false, fields: identity === undefined ? [] : [identity], hidden: [] };
  const found = await context.store.record(
    {
      query: { ...asking(session), resource },
      key,
      shape: { kind: 'native-listing', display: 'Summary', selection, expansions: [] },
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  if (found === undefined) throw platError('recordNotFound', { resource: 'listing' });
}

/** `/v1/listings/<key>/customfields`: the custom fields of a listing, as its expansion gives them. */
export async function customFields(request: NativeExchange, key: string): Promise<Reply> {
  refuseParameters(request, 'customfields');
  const { context, exchange, session } = request;
  const resource = listingResource(request);
  const identity = resource.fields.get(resource.key);
  const selection = { all: false, fields: identity === undefined ? [] : [identity], hidden: [] };
  const body = await context.store.record(
    {
      query: { ...asking(session), resource },
      key,
      shape: { kind: 'native-listing', display: 'Summary', selection, expansions: ['CustomFields'] },
      files: signingFor(context, exchange, session),
    },
    context.read,
  );
  if (body === undefined) throw platError('recordNotFound', { resource: 'listing' });
  const record: { CustomFields: unknown[] } = JSON.parse(Buffer.from(body).toString());
  return taggedResult(request, record.CustomFields.map((each) => JSON.stringify(each)).join(','));
}
