/**
 * The paths of the native interface, and what answers each. What finds a request its answer, and what describes the
 * interface to clients, both read this table.
 */
import { NATIVE_PARTS } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import type { Exchange, Reply, ServiceContext, Session } from '../exchange.ts';
import { account, accounts, accountsOfOffice } from './accounts.ts';
import { listing, listings } from './listings.ts';
import {
  customField,
  customFieldList,
  myAccount,
  propertyTypes,
  standardFields,
  system,
} from './metadata.ts';
import { type NativeExchange, nativeExchange } from './native-request.ts';
import { NEARBY_PARAMETERS, nearby } from './nearby.ts';
import { OPEN_HOUSE_PARAMETERS, openHouses } from './open-houses.ts';
import { customFields, part, parts } from './parts.ts';

type Answer = Promise<Reply | undefined> | Reply | undefined;

export interface NativeRoute {
  /** Below the root; what stands in braces is a text of the client's. Of two that fit, the first is asked first. */
  readonly path: string;
  /** What it gives, for people. */
  readonly gives: string;
  readonly takes: readonly ParameterName[];
  /**
   * @param first,second what stands in braces
   * @returns undefined where there is nothing
   */
  readonly answer: (request: NativeExchange, first: string, second: string) => Answer;
}

const COLLECTION: readonly ParameterName[] = [
  '_filter',
  '_orderby',
  '_select',
  '_expand',
  '_limit',
  '_skip',
  '_skiptoken',
  '_page',
  '_pagination',
];
const PART: readonly ParameterName[] = ['_select', '_limit', '_skip', '_page', '_pagination'];

export const NATIVE_ROUTES: readonly NativeRoute[] = [
  { path: 'listings', gives: 'listings, by key', takes: COLLECTION, answer: listings },
  {
    path: 'listings/nearby',
    gives: 'listings around a point, the nearest first',
    takes: NEARBY_PARAMETERS,
    answer: nearby,
  },
  { path: 'listings/{key}', gives: 'one listing', takes: ['_select', '_expand', '_limit'], answer: listing },
  {
    path: 'listings/{key}/customfields',
    gives: 'the custom fields of a listing',
    takes: [],
    answer: customFields,
  },
  ...NATIVE_PARTS.flatMap((name): NativeRoute[] => [
    {
      path: `listings/{key}/${name}`,
      gives: `the ${name} of a listing`,
      takes: PART,
      answer: (request, key) => parts(request, key, name),
    },
    {
      path: `listings/{key}/${name}/{id}`,
      gives: `one of the ${name} of a listing`,
      takes: ['_select'],
      answer: (request, key, id) => part(request, key, name, id),
    },
  ]),
  {
    path: 'accounts',
    gives: 'agents and offices, by key',
    takes: COLLECTION.filter((name) => name !== '_expand' && name !== '_skiptoken'),
    answer: accounts,
  },
  {
    path: 'accounts/by/office/{key}',
    gives: 'the agents of an office, by key',
    takes: COLLECTION.filter((name) => name !== '_expand' && name !== '_skiptoken'),
    answer: accountsOfOffice,
  },
  { path: 'my/account', gives: 'the account of the key itself', takes: ['_select'], answer: myAccount },
  {
    path: 'openhouses',
    gives: 'the open houses of all listings, by key',
    takes: OPEN_HOUSE_PARAMETERS,
    answer: openHouses,
  },
  { path: 'accounts/{key}', gives: 'one agent or office', takes: ['_select'], answer: account },
  {
    path: 'standardfields',
    gives: 'the standard fields of a listing',
    takes: [],
    answer: (request) => standardFields(request),
  },
  { path: 'standardfields/{name}', gives: 'one of them, with its values', takes: [], answer: standardFields },
  {
    path: 'customfields',
    gives: 'the custom fields, by group and name',
    takes: [],
    answer: customFieldList,
  },
  {
    path: 'customfields/{name}',
    gives: 'those of a name, with their values, or of a property type',
    takes: [],
    answer: customField,
  },
  { path: 'propertytypes', gives: 'the property types', takes: [], answer: propertyTypes },
  { path: 'propertytypes/all', gives: 'the same', takes: [], answer: propertyTypes },
  { path: 'system', gives: 'who the key is, and its bounds', takes: [], answer: system },
];

/** Answers a request of the native interface. The path is below its root, percent-encoded. */
export async function native(
  context: ServiceContext,
  exchange: Exchange,
  session: Session,
  path: string,
): Promise<Reply> {
  exchange.timings.start('parse');
  const request = nativeExchange(context, exchange, session);
  // No key is empty, so a slash too many says nothing.
  const segments = path.split('/').filter(Boolean).map(decodeSegment);
  for (const route of NATIVE_ROUTES) {
    const given = match(route, segments);
    const reply = given === undefined ? undefined : await route.answer(request, ...given);
    if (reply !== undefined) return reply;
  }
  throw platError('pathNotFound', { path: exchange.path });
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw platError('requestMalformed', { reason: 'the percent-encoding of the path is broken' });
  }
}

/** What stands where the route has names in braces; undefined for another path. */
function match({ path }: NativeRoute, segments: readonly string[]): [string, string] | undefined {
  const names = path.split('/');
  if (names.length !== segments.length) return undefined;
  const given = segments.filter((_, at) => names[at]?.startsWith('{') === true);
  const isSame = names.every((name, at) => name.startsWith('{') || name === segments[at]);
  return isSame ? [given[0] ?? '', given[1] ?? ''] : undefined;
}
