/** A foreign native v1 server over listings and accounts in memory. */
import type { TestClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import type { Json } from '../../support/world.ts';
import { json, type Loopback, listen, type Reply, type Seen } from './loopback.ts';

export interface NativeServer extends Loopback {
  readonly root: string;
  /** StandardFields of each listing, and its CustomFields; a test may change them at any time. */
  listings: Json[];
  accounts: Json[];
  customFields: Json[];
  standardFields: Json;
  /** Whether a skip token includes its own record (trap 5b). */
  tokenTakesItsOwn: boolean;
  /** Its largest page. */
  page: number;
  /** Whether it expands sub-resources, or ignores `_expand` for them. */
  expands: boolean;
  intercept: (seen: Seen, count: number) => Reply | undefined;
  asked(collection: string): string[];
}

export async function nativeServer(
  scope: Scope,
  clock: TestClock,
  listings: readonly Json[],
  accounts: readonly Json[] = [],
): Promise<NativeServer> {
  const loopback = await listen(
    scope,
    (seen, count) => server.intercept(seen, count) ?? answer(server, seen),
    {
      now: clock.now,
    },
  );
  const server: NativeServer = {
    ...loopback,
    root: `${loopback.origin}/v1/`,
    listings: [...listings],
    accounts: [...accounts],
    customFields: [],
    standardFields: {},
    tokenTakesItsOwn: false,
    page: 1000,
    expands: true,
    intercept: () => undefined,
    asked: (collection) =>
      loopback.seen
        .map(({ url }) => url.replace('/v1/', ''))
        .filter((url) => new RegExp(`^${collection}\\b`).test(url)),
  };
  return server;
}

export const success = (results: readonly unknown[], token?: string): Reply =>
  json({ D: { Success: true, Results: results, ...(token === undefined ? {} : { SkipToken: token }) } });

export const failure = (status: number, code: number, message: string): Reply =>
  json({ D: { Success: false, Code: code, Message: message } }, { status });

const SUBDATA = [
  'Photos',
  'Videos',
  'VirtualTours',
  'Rooms',
  'Units',
  'OpenHouses',
  'Documents',
  'FloorPlans',
];

function answer(server: NativeServer, seen: Seen): Reply {
  const [collection = '', key] = seen.path.replace('/v1/', '').split('/');
  switch (collection) {
    case 'system':
      return success([{}]);
    case 'standardfields':
      return success([server.standardFields]);
    case 'customfields':
      return success(server.customFields);
    case 'accounts':
      return key === undefined ? accountsPage(server, seen) : oneAccount(server, key);
    case 'listings':
      return listingsPage(server, seen);
    default:
      return failure(404, 404, 'No such path');
  }
}

function oneAccount({ accounts }: NativeServer, key: string): Reply {
  const found = accounts.find(({ Id }) => Id === key);
  return found === undefined ? failure(404, 404, 'No such account') : success([found]);
}

function accountsPage({ accounts }: NativeServer, { query }: Seen): Reply {
  const skip = Number(query.get('_skip') ?? 0);
  return success(accounts.slice(skip, skip + Number(query.get('_limit') ?? 10)));
}

function listingsPage({ listings, tokenTakesItsOwn, page, expands }: NativeServer, { query }: Seen): Reply {
  const filter = query.get('_filter') ?? '';
  const [, lower = '', upper = ''] = /^\w+ bt ([^,]+),(.+)$/.exec(filter) ?? [];
  const [, wanted] = /^ListingKey Eq (.+)$/.exec(filter) ?? [];
  const keys = wanted?.split(',').map((each) => each.slice(1, -1));
  const token = query.get('_skiptoken') ?? '';
  const keyOf = (listing: Json): string => String(listing.ListingKey);
  const matching = listings
    .filter((listing) => {
      const key = keyOf(listing);
      if (tokenTakesItsOwn && token !== '' ? key < token : key <= token) return false;
      if (keys !== undefined) return keys.includes(key);
      const stamp = Date.parse(String(listing.ModificationTimestamp));
      return upper === '' || (stamp >= Date.parse(lower) && stamp <= Date.parse(upper));
    })
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .slice(0, Math.min(page, Number(query.get('_limit') ?? 10)));
  const last = matching.at(-1);
  const select = query.get('_select')?.split(',');
  const expand = query.get('_expand')?.split(',') ?? [];
  const shown = ([name]: [string, unknown]): boolean =>
    SUBDATA.includes(name) ? expands && expand.includes(name) : select === undefined || select.includes(name);
  const results = matching.map(({ CustomFields, ...listing }) => ({
    Id: listing.ListingKey,
    ResourceUri: `/v1/listings/${keyOf(listing)}`,
    StandardFields: Object.fromEntries(Object.entries(listing).filter(shown)),
    ...(CustomFields !== undefined && expand.includes('CustomFields') ? { CustomFields } : {}),
  }));
  return success(results, last === undefined ? token : keyOf(last));
}

/** The account of an agent. */
export const agent = (key: string, fields: Json = {}): Json => ({
  Id: key,
  Name: `Agent ${key}`,
  UserType: 'Member',
  ...fields,
});
