/**
 * The paths of the native interface and their handlers: to add a path, add a row. The router and the description of the interface
 * both read this table, and a handler accepts the parameters that its row names.
 */
import { NATIVE_PARTS, nearestName } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { ParameterName } from '../../query/native/parameters.ts';
import { type AuthenticatedExchange, decodeSegment, type Reply } from '../exchange.ts';
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
import { nativeExchange, type RoutedExchange } from './native-request.ts';
import { nearby } from './nearby.ts';
import { customFields, openHouses, part, parts } from './sub-resources.ts';

type Answer = Promise<Reply | undefined> | Reply | undefined;

/**
 * @param first,second the values of the placeholders in the path
 * @returns undefined if nothing exists at the path
 */
type Handler = (request: RoutedExchange, first: string, second: string) => Answer;

export interface NativeRoute {
  /** Below the root, with placeholders in braces. If two rows match a path, the first is tried first. */
  readonly path: string;
  /** A description for people. */
  readonly summary: string;
  readonly takes: readonly ParameterName[];
  readonly answer: Handler;
  /** Whether it returns one record, with an ETag. */
  readonly isTagged?: true;
}

const PAGES = ['_limit', '_skip', '_page', '_pagination'] as const;
const COLLECTION = ['_filter', '_orderby', '_select', ...PAGES] as const;
const LISTINGS = [
  '_filter',
  '_orderby',
  '_select',
  '_expand',
  '_limit',
  '_skip',
  '_skiptoken',
  '_page',
  '_pagination',
] as const;
const NEARBY = ['_lat', '_lon', '_distance', '_filter', '_select', '_expand', ...PAGES] as const;

const route = (
  path: string,
  summary: string,
  takes: readonly ParameterName[],
  answer: Handler,
): NativeRoute => ({ path, summary, takes, answer });

const taggedRoute = (...row: Parameters<typeof route>): NativeRoute => ({ ...route(...row), isTagged: true });

export const NATIVE_ROUTES: readonly NativeRoute[] = [
  route('listings', 'List listings in the order of their keys', LISTINGS, listings),
  route('listings/nearby', 'List listings around a point, nearest first', NEARBY, nearby),
  taggedRoute('listings/{key}', 'Retrieve a listing', ['_select', '_expand', '_limit'], listing),
  taggedRoute('listings/{key}/customfields', 'Retrieve the custom fields of a listing', [], customFields),
  ...NATIVE_PARTS.flatMap((name) => [
    route(`listings/{key}/${name}`, `List the ${name} of a listing`, ['_select', ...PAGES], (request, key) =>
      parts(request, key, name),
    ),
    taggedRoute(
      `listings/{key}/${name}/{id}`,
      `Retrieve one of the ${name} of a listing`,
      ['_select'],
      (request, key, id) => part(request, key, name, id),
    ),
  ]),
  route('accounts', 'List agents and offices in the order of their keys', COLLECTION, accounts),
  route(
    'accounts/by/office/{key}',
    'List the agents of an office in the order of their keys',
    COLLECTION,
    accountsOfOffice,
  ),
  taggedRoute('my/account', 'Retrieve the account of the API key', ['_select'], myAccount),
  route(
    'openhouses',
    'List the open houses of all listings in the order of their keys',
    COLLECTION,
    openHouses,
  ),
  taggedRoute('accounts/{key}', 'Retrieve an agent or office', ['_select'], account),
  route('standardfields', 'List the standard fields of a listing', [], (request) => standardFields(request)),
  route('standardfields/{name}', 'Retrieve a standard field with its values', [], standardFields),
  route('customfields', 'List the custom fields by group and name', [], customFieldList),
  route(
    'customfields/{name}',
    'Retrieve the custom fields of a name, with their values, or of a property type',
    [],
    customField,
  ),
  route('propertytypes', 'List the property types', [], propertyTypes),
  route('propertytypes/all', 'List the property types', [], propertyTypes),
  route('system', 'Retrieve the identity and the limits of the API key', [], system),
];

/** Answers a request of the native interface. @param path below its root, percent-encoded */
export async function answerNative(asked: AuthenticatedExchange, path: string): Promise<Reply> {
  const { exchange } = asked;
  exchange.timings.start('parse');
  const request = nativeExchange(asked);
  // No key is empty, so additional slashes are ignored.
  const segments = path.split('/').filter(Boolean).map(decodeSegment);
  for (const { path: pattern, takes, answer } of NATIVE_ROUTES) {
    const given = match(pattern.split('/'), segments);
    const reply = given === undefined ? undefined : await answer({ ...request, takes }, ...given);
    if (reply !== undefined) return reply;
  }
  const [first = ''] = segments;
  const nearest = COLLECTIONS.has(first) ? undefined : nearestName(first, COLLECTIONS);
  const below = [nearest, ...segments.slice(1).map(encodeURIComponent)].join('/');
  throw platError('pathNotFound', {
    path: exchange.path,
    nearest: nearest === undefined ? undefined : `${exchange.surface.nativeRoot}${below}`,
  });
}

const COLLECTIONS: ReadonlySet<string> = new Set(
  NATIVE_ROUTES.map(({ path }) => path.split('/', 1)[0] ?? ''),
);

/** The values of the placeholders of a route; undefined if the path does not match. */
function match(names: readonly string[], segments: readonly string[]): [string, string] | undefined {
  if (names.length !== segments.length) return undefined;
  const isSame = names.every((name, at) => name.startsWith('{') || name === segments[at]);
  const [first = '', second = ''] = segments.filter((_, at) => names[at]?.startsWith('{') === true);
  return isSame ? [first, second] : undefined;
}
