/** `/v1/openhouses`: the open houses of all listings that the key sees, each with the key of its listing. */

import { fieldsOfMembers, partMembers } from '../../compile/text/native-parts.ts';
import { nearestName } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type NativeNames, resourceNames } from '../../query/native/names.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { bindParameters, type NativeRequest } from '../../query/native/request.ts';
import { asking, partsOf, type Reply, signingFor } from '../exchange.ts';
import { indexHeaders, readPage } from '../paging/read-page.ts';
import { offsetOf } from './listings.ts';
import { type NativeExchange, pagination, success } from './native-request.ts';

export const OPEN_HOUSE_PARAMETERS: readonly ParameterName[] = [
  '_filter',
  '_orderby',
  '_select',
  '_limit',
  '_skip',
  '_page',
  '_pagination',
];

const PART = 'openhouses';
const MEMBERS = [...partMembers(PART), 'ListingKey'];

const FIELD_OF = fieldsOfMembers('OpenHouse');

export async function openHouses(request: NativeExchange): Promise<Reply> {
  const { context, exchange, session, parameters } = request;
  const houses = session.view.schema.find('OpenHouse');
  if (houses === undefined) throw platError('resourceUnknown', { name: PART });
  const { default: usual, others } = exchange.surface.paging.nativeLimit;
  const asked = bindParameters(parameters, {
    names: namesOf(resourceNames(PART, houses, session.view.schema)),
    parameters: OPEN_HOUSE_PARAMETERS,
    expansions: [],
    limit: { most: others, default: usual },
    now: new Date(session.now),
  });
  const members = membersOf(asked);
  const size = asked.limit ?? usual;
  const { filter, order, position } = asked;
  exchange.timings.start('store');
  const answer = await readPage(context, {
    keyId: session.key.id,
    query: {
      ...asking(session),
      resource: houses.resource,
      ...(filter === undefined ? {} : { filter }),
      order,
    },
    limit: asked.pagination === 'count' ? 0 : size,
    skip: offsetOf(position, size),
    shape: { kind: 'native-part', part: PART, ...(members === undefined ? {} : { members }) },
    files: signingFor(context, exchange, session),
    counts: asked.pagination !== 'none',
    taken: exchange.taken,
  });
  exchange.timings.start('encode');
  const { page, count } = answer;
  const where =
    position.kind === 'offset'
      ? { offset: position.offset }
      : { page: position.kind === 'page' ? position.page : 1 };
  const shown = count === undefined ? undefined : pagination(count, size, where);
  return success(partsOf(page), page.rows, { pagination: shown }, indexHeaders(answer));
}

function namesOf(names: NativeNames): NativeNames {
  return {
    ...names,
    find: (name) => names.find(FIELD_OF.get(name) ?? name),
    always: ['ResourceUri'],
    names: () => [...MEMBERS, ...names.names()],
  };
}

/** The members that are selected; undefined for all. @throws PlatError `fieldUnknown` for a field that is none */
function membersOf({ selection }: NativeRequest): readonly string[] | undefined {
  if (selection.all) return undefined;
  const stray = selection.names.find((name) => !MEMBERS.includes(name));
  if (stray === undefined) return selection.names;
  const facts = { name: stray, nearest: nearestName(stray, MEMBERS), resource: PART, option: '_select' };
  throw platError('fieldUnknown', facts, { target: '_select' });
}
