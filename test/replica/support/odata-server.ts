/** A foreign RESO server with few features, and behavior that a test chooses. */
import type { TestClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import type { Json } from '../../support/world.ts';
import { type Handler, json, type Loopback, listen, type Reply, type Seen } from './loopback.ts';

const KEYS: Readonly<Record<string, string>> = {
  Property: 'ListingKey',
  Member: 'MemberKey',
  Office: 'OfficeKey',
};
/** Collections that a listing of this server may have. */
const COLLECTIONS = ['Media', 'Rooms', 'Room', 'Unit', 'UnitTypes', 'OpenHouse', 'OpenHouses'];

/** The `$top` values with which the consumer discovers what a source can do. */
export const PROBES: ReadonlySet<string | null> = new Set(['1', '5', '20', '30']);

/** What the server can do and how it does it. A test may change all of it while the server runs. */
export interface Traits {
  /**
   * Form of its links to the next page: absolute, with an offset, with an offset as their token, relative, its query alone, with
   * another host or path, or none.
   */
  links:
    | 'absolute'
    | 'offset'
    | 'offset-token'
    | 'relative'
    | 'query'
    | 'none'
    | { readonly origin?: string; readonly path?: string };
  /** The meaning of `$top`. */
  top: 'page' | 'total';
  /** Its largest page. */
  page: number;
  counts: boolean;
  /** Whether it supports `$skip`, or the largest one that it accepts; `$orderby` with the key; and filters by `gt` on the key. */
  skips: boolean | 'ignored' | number;
  sorts: boolean;
  /** Whether it ignores `$top` and `$skip` beside a filter: it then returns all records, or as many as fit on its largest page. */
  filters: 'pages' | 'all' | 'largest';
  comparesKeys: boolean;
  /** A condition that `$filter` has to contain. */
  requires: string | undefined;
  /** The collections that it expands; any other one is an error. */
  expands: readonly string[];
  /** Whether `/Property('key')/Media` works. */
  paths: boolean;
  /** Text of `$metadata`; absent: it has none. */
  metadata: string | undefined;
  token: string;
  /** Whether a response has a Date header; otherwise the header is empty. */
  dates: (seen: Seen, count: number) => boolean;
}

export interface ODataServer extends Loopback {
  readonly root: string;
  readonly traits: Traits;
  /** Records by resource; a test may change them at any time. */
  readonly records: Map<string, Json[]>;
  /** Returns a response that replaces the usual one, or undefined. */
  intercept: (seen: Seen, count: number) => Reply | undefined;
  /** Requests for one resource, decoded, without the root. */
  asked(resource: string): string[];
}

export async function odataServer(
  scope: Scope,
  clock: TestClock,
  records: Readonly<Record<string, readonly Json[]>>,
  given: Partial<Traits> = {},
): Promise<ODataServer> {
  const traits: Traits = {
    links: 'absolute',
    top: 'page',
    page: 1000,
    counts: false,
    skips: true,
    sorts: false,
    filters: 'pages',
    comparesKeys: true,
    requires: undefined,
    expands: [],
    paths: false,
    metadata: undefined,
    token: 'secret',
    dates: () => true,
    ...given,
  };
  const store = new Map(Object.entries(records).map(([name, list]) => [name, [...list]]));
  const handler: Handler = (seen, count) => {
    const reply = server.intercept(seen, count) ?? answer(server, seen);
    return traits.dates(seen, count) ? reply : { ...reply, headers: { ...reply.headers, date: '' } };
  };
  const loopback = await listen(scope, handler, { now: clock.now });
  const server: ODataServer = {
    ...loopback,
    root: `${loopback.origin}/odata/`,
    traits,
    records: store,
    intercept: () => undefined,
    asked: (resource) =>
      loopback.seen
        .map(({ url }) => url.replace('/odata/', ''))
        .filter((url) => new RegExp(`^${resource}\\b`).test(url)),
  };
  return server;
}

const fault = (status: number, message: string): Reply =>
  json({ error: { code: String(status), message } }, { status });

function answer(server: ODataServer, seen: Seen): Reply {
  const { traits, records } = server;
  if (seen.headers.authorization !== `Bearer ${traits.token}`) return fault(401, 'Who are you?');
  const path = seen.path.replace('/odata/', '');
  if (path === '') return json({ value: [...records.keys()].map((name) => ({ name, url: name })) });
  if (path === '$metadata') {
    if (traits.metadata === undefined) return fault(404, 'No metadata');
    return { headers: { 'content-type': 'application/xml' }, body: traits.metadata };
  }
  const [, resource = '', key, child] = /^(\w+)(?:\('([^']*)'\))?(?:\/(\w+))?$/.exec(path) ?? [];
  const list = records.get(resource);
  if (list === undefined) return fault(404, `No ${path}`);
  if (key === undefined) return collection(server, seen, resource, list);
  const found = list.find((record) => record[KEYS[resource] ?? ''] === key);
  if (found === undefined) return fault(404, `No ${path}`);
  if (child === undefined) return json(shown(found, expansionsOf(seen)));
  if (!traits.paths) return fault(501, 'Not here');
  return json({ value: found[child] ?? [] });
}

const expansionsOf = ({ query }: Seen): string[] => query.get('$expand')?.split(',') ?? [];

/** A record with the requested collections. */
function shown(record: Json, expansions: readonly string[]): Json {
  const collections = COLLECTIONS.filter((name) => !expansions.includes(name));
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => !collections.includes(name.replace(/@.*$/, ''))),
  );
}

function collection(server: ODataServer, seen: Seen, resource: string, list: readonly Json[]): Reply {
  const { traits } = server;
  const { query } = seen;
  const unknown = [...query.keys()].find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) return fault(400, `Unknown option ${unknown}`);
  const expansions = expansionsOf(seen);
  if (expansions.some((name) => !traits.expands.includes(name))) return fault(400, 'Cannot expand');
  if (query.has('$count') && !traits.counts) return fault(400, 'Cannot count');
  if (query.has('$skip') && traits.skips === false) return fault(400, 'Cannot skip');
  if (Number(query.get('$skip') ?? 0) > Number(traits.skips === true ? Infinity : traits.skips))
    return fault(400, 'Cannot skip so many');
  if (query.has('$orderby') && !traits.sorts) return fault(400, 'Cannot sort');
  const filter = query.get('$filter');
  const { requires } = traits;
  if (requires !== undefined && !filter?.split(' and ').includes(requires))
    return fault(400, `Filter by ${requires}`);
  const terms = termsOf(filter);
  const keyField = KEYS[resource] ?? '';
  const isByKey = query.get('$filter')?.includes(`${keyField} gt `) === true;
  if (terms === undefined || (isByKey && !traits.comparesKeys)) return fault(400, 'Cannot filter so');
  const keyOf = (record: Json): string => String(record[keyField] ?? '');
  const matching = list
    .filter((record) => terms.every((term) => term(record)))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (query.get('$orderby') === `${keyField} desc`) matching.reverse();
  const after = query.get('$skiptoken');
  const ignoresSkip = traits.skips === 'ignored' || (filter !== null && traits.filters !== 'pages');
  const from =
    after === null
      ? matching.slice(ignoresSkip ? 0 : Number(query.get('$skip') ?? 0))
      : matching.slice(Number(after));
  const begin = matching.length - from.length;
  const { rows, left } = pageSize(seen, traits, from.length);
  const page = from.slice(0, rows);
  const select = query.get('$select')?.split(',');
  const value = page.map((record) =>
    select === undefined
      ? shown(record, expansions)
      : Object.fromEntries(select.map((name) => [name, record[name] ?? null])),
  );
  const next = left > 0 ? linkTo(server, seen, begin + rows, left) : undefined;
  return json({
    ...(query.has('$count') ? { '@odata.count': matching.length } : {}),
    value,
    ...(next === undefined ? {} : { '@odata.nextLink': next }),
  });
}

const OPTIONS = new Set([
  '$top',
  '$skip',
  '$skiptoken',
  '$filter',
  '$select',
  '$expand',
  '$count',
  '$orderby',
]);

function pageSize({ query, headers }: Seen, traits: Traits, there: number): { rows: number; left: number } {
  if (query.has('$filter') && traits.filters !== 'pages')
    return { rows: traits.filters === 'all' ? there : Math.min(there, traits.page), left: 0 };
  const preferred = /maxpagesize=(\d+)/.exec(String(headers.prefer ?? ''))?.[1];
  const top = Number(query.get('$top') ?? Number.POSITIVE_INFINITY);
  if (traits.top === 'page') {
    const rows = Math.min(top, traits.page, there);
    return { rows, left: there - rows };
  }
  const rows = Math.min(top, traits.page, Number(preferred ?? Number.POSITIVE_INFINITY), there);
  return { rows, left: Math.min(top, there) - rows };
}

function linkTo(server: ODataServer, { path, query }: Seen, place: number, left: number): string | undefined {
  const { links, top } = server.traits;
  if (links === 'none') return undefined;
  const next = new URLSearchParams(query);
  next.delete('$skip');
  // Any other token is opaque, although this server can read it as a number.
  const token = links === 'offset' || links === 'offset-token' ? `${place}` : `${place}.0`;
  next.set(links === 'offset' ? '$skip' : '$skiptoken', token);
  if (top === 'total' && query.has('$top')) next.set('$top', String(left));
  const target = `${path.replace('/odata/', '')}?${next}`;
  if (links === 'relative') return target;
  if (links === 'query') return `?${next}`;
  const { origin = server.origin, path: root = '/odata/' } = typeof links === 'string' ? {} : links;
  return `${origin}${root}${target}`;
}

type Term = (record: Json) => boolean;

/** `eq`, `ne`, `gt`, `lt` and `and`, with or without parentheses; anything else is rejected. */
function termsOf(filter: string | null): Term[] | undefined {
  if (filter === null) return [];
  const parts = filter.replaceAll(/[()]/g, '').split(' and ');
  const terms = parts.flatMap((part) => {
    const [, field = '', operator, value = ''] = /^(\w+) (eq|ne|gt|lt) (\S+)$/.exec(part) ?? [];
    if (operator === undefined) return [];
    const wanted = value.replace(/^'(.*)'$/, '$1');
    const comparable = (each: unknown): string | number =>
      /^\d{4}-\d\d-\d\dT/.test(wanted) ? Date.parse(String(each)) : String(each);
    const right = comparable(wanted);
    return [
      (record: Json): boolean => {
        const left = comparable(record[field]);
        if (operator === 'eq' || operator === 'ne') return (left === right) === (operator === 'eq');
        return operator === 'gt' ? left > right : left < right;
      },
    ];
  });
  return terms.length === parts.length ? terms : undefined;
}

/** Metadata with an entity `Property` with these properties and collections, and with Member and Office. */
export function metadataOf(
  properties: Readonly<Record<string, string>>,
  collections: readonly string[] = [],
  localNames: Readonly<Record<string, string>> = {},
): string {
  const property = ([name, type]: [string, string]): string => {
    const local = localNames[name];
    const annotation =
      local === undefined ? '' : `<Annotation Term="MLS.OData.Metadata.LocalName" String="${local}"/>`;
    return `<Property Name="${name}" Type="${type}">${annotation}</Property>`;
  };
  const navigation = (name: string): string =>
    `<NavigationProperty Name="${name}" Type="Collection(X.${name})"/>`;
  const entity = (name: string, key: string, inner: string): string =>
    `<EntityType Name="${name}"><Key><PropertyRef Name="${key}"/></Key><Property Name="${key}" Type="Edm.String"/>${inner}</EntityType>`;
  const listing = [...Object.entries(properties).map(property), ...collections.map(navigation)].join('');
  const types = [
    entity('Property', 'ListingKey', listing),
    entity('Member', 'MemberKey', ''),
    entity('Office', 'OfficeKey', ''),
  ];
  const sets = ['Property', 'Member', 'Office'].map(
    (name) => `<EntitySet Name="${name}" EntityType="X.${name}"/>`,
  );
  return `<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="X" xmlns="http://docs.oasis-open.org/odata/ns/edm">${types.join('')}<EntityContainer Name="C">${sets.join('')}</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`;
}
