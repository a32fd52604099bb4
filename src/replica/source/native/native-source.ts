import type { Dictionary } from '../../../dictionary/index.ts';
import { jsonOf } from '../../../records/nesting.ts';
import { type Answer, attemptsOf, type SourceClient } from '../../http/client.ts';
import { RequestFailure } from '../../http/failure.ts';
import { isObject } from '../../json.ts';
import { readDate, readJson, withoutEmptyLists } from '../answer.ts';
import { oneByOne } from '../apart.ts';
import { serverClock } from '../server-clock.ts';
import type {
  BrokenItem,
  Capabilities,
  ForeignField,
  Place,
  Position,
  Shown,
  Source,
  SourceItem,
  SourceKey,
  SourcePage,
  Walk,
} from '../source.ts';
import { ACCOUNTS, givesCustomFields } from '../source.ts';
import { accountItem } from './account-json.ts';
import type { CustomNames } from './custom-names.ts';
import { listingJson, nativeToReso } from './listing-json.ts';

export interface NativeSourceOptions {
  readonly client: SourceClient;
  /** Root of the interface, ends with `/v1/`. */
  readonly root: string;
  readonly capabilities: Capabilities;
  readonly foreignFields: readonly ForeignField[];
  readonly dictionary: Dictionary;
  readonly customNames: CustomNames;
  readonly shown: () => Promise<Shown>;
}

/** How a listing was asked for: with its collections, without them, or for them alone. */
type Asked = 'whole' | 'bare' | 'children';

/** Values that a condition of `_filter` takes. */
const MANY = 200;
/** A page of one record could be the token's own for ever, where a source takes the token itself in. */
const SMALLEST = 2;
const LISTINGS = 'listings';

/** A native v1 server (specification 4.3, 4.4). */
export function nativeSource(options: NativeSourceOptions): Source {
  const { client, root, capabilities, dictionary, customNames } = options;
  const listing = dictionary.resources.get('Property');
  const names = listing === undefined ? new Map<string, string>() : nativeToReso(listing);
  const expand = `_expand=${capabilities.expansions.join(',')}`;

  const collectionOf = (resource: string): string => (resource === ACCOUNTS ? ACCOUNTS : LISTINGS);

  const read = (url: string, attempts?: number): Promise<NativeAnswer> =>
    client.get(url, readResults, attemptsOf(attempts));

  function list(collection: string, query: readonly string[], attempts?: number): Promise<NativeAnswer> {
    return read(`${root}${collection}?${query.map(encodeParameter).join('&')}`, attempts);
  }

  const sizeOf = ({ size }: Place): number => Math.max(size, SMALLEST);

  /** The options that say where a page begins. */
  function place(resource: string, position: Position | undefined): string {
    if (resource === ACCOUNTS) return `_skip=${position?.kind === 'skip' ? position.skip : 0}`;
    return `_skiptoken=${position?.kind === 'token' ? position.token : ''}`;
  }

  /** Clients stop on an empty page and on a missing token; the same token twice is an error. */
  function nextOf(
    resource: string,
    { results, token }: NativeAnswer,
    position: Position | undefined,
  ): Position | undefined {
    if (results.length === 0) return undefined;
    if (resource === ACCOUNTS) {
      return { kind: 'skip', skip: (position?.kind === 'skip' ? position.skip : 0) + results.length };
    }
    if (token === undefined) return undefined;
    if (position?.kind === 'token' && position.token === token) {
      // The source takes the token's own record in, and nothing follows it.
      if (results.length === 1) return undefined;
      throw new RequestFailure('rejected', `The source gave the skip token ${token} twice`);
    }
    return { kind: 'token', token };
  }

  /** A page of what came whole. @throws AuxiliaryFailure */
  async function pageOf(
    resource: string,
    { results, serverTime, total, weight }: NativeAnswer,
    asked: Asked = 'whole',
  ): Promise<SourcePage> {
    if (resource !== ACCOUNTS) await customNames.meet(results.filter(isObject));
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const masked = new Set<string>();
    const open = new Set<string>();
    for (const result of results) {
      const mapped = resource === ACCOUNTS ? account(result) : property(result, masked, asked);
      for (const [name, value] of Object.entries(mapped?.json ?? {})) if (value !== null) open.add(name);
      if (mapped === undefined) {
        broken.push({
          resource,
          payload: jsonOf(result),
          reason: 'The record has not the form of its kind',
        });
      } else items.push(mapped);
    }
    const keys = keysOf(resource, results);
    return { items, broken, keys, weight, serverTime, total, masked: [...masked], open: [...open] };
  }

  /** Without their custom fields listings are not whole, and the download cannot ask for these: keys come first. */
  const keysFirst = (resource: string, { kind }: Walk): boolean =>
    kind === 'all' && resource !== ACCOUNTS && givesCustomFields(capabilities);

  /** During the initial download nothing but _limit, _skiptoken and _select is sent (specification 4.3, rule 1). */
  function optionsOf(resource: string, walk: Walk): string[] {
    if (walk.kind === 'window') return [`_filter=${walk.field} bt ${walk.lower},${walk.upper}`, expand];
    return keysFirst(resource, walk) ? ['_select=ListingKey'] : [];
  }

  /** A page of keys. What has none is kept as it came. */
  async function keysOnly(resource: string, answer: NativeAnswer): Promise<SourcePage> {
    const keyless = answer.results.filter((result) => keysOf(resource, [result]).length === 0);
    const page = await pageOf(resource, { ...answer, results: keyless });
    return { ...page, keys: keysOf(resource, answer.results) };
  }

  function property(result: unknown, masked: Set<string>, asked: Asked): SourceItem | undefined {
    const mapped = isObject(result) ? listingJson(result, names, customNames.nameOf) : undefined;
    if (mapped === undefined) return undefined;
    for (const name of mapped.masked) masked.add(name);
    const json = asked === 'bare' ? withoutEmptyLists(mapped.json) : mapped.json;
    return { resource: 'Property', json, ...(asked === 'children' ? { onlyChildren: true } : {}) };
  }

  const account = (result: unknown): SourceItem | undefined =>
    isObject(result) ? accountItem(result) : undefined;

  return {
    capabilities,
    foreignFields: options.foreignFields,
    origin: new URL(root).origin,
    someAtOnce: MANY,
    serverTime: serverClock(client, `${root}system`, `${root}${LISTINGS}?_limit=1&_select=ListingKey`),
    shown: options.shown,
    windowField: () => capabilities.windowField,
    async page(resource, walk, { position, ...rest }) {
      if (rest.apart === true) return pageApart(resource, walk, { position, ...rest });
      const query = [
        `_limit=${sizeOf({ position, ...rest })}`,
        ...optionsOf(resource, walk),
        place(resource, position),
      ];
      const answer = await list(collectionOf(resource), query, rest.attempts);
      const next = nextOf(resource, answer, position);
      const page = keysFirst(resource, walk)
        ? await keysOnly(resource, answer)
        : await pageOf(resource, answer, walk.kind === 'all' ? 'bare' : 'whole');
      return { ...page, next };
    },
    async keys(resource, { position, ...rest }) {
      const select = resource === ACCOUNTS ? '_select=UserType' : '_select=ListingKey';
      const query = [`_limit=${sizeOf({ position, ...rest })}`, select, place(resource, position)];
      const answer = await list(collectionOf(resource), query, rest.attempts);
      const { serverTime, total, weight } = answer;
      const keys = keysOf(resource, answer.results);
      const keyless = answer.results.filter((result) => !isObject(result) || typeof result.Id !== 'string');
      const next = nextOf(resource, answer, position);
      return { keys, keyless: keyless.length, next, serverTime, total, weight };
    },
    async some(resource, keys, attempts) {
      if (resource !== 'Property') return pageOf(ACCOUNTS, await byPath(ACCOUNTS, keys, [], attempts));
      return pageOf(resource, await listingsOf(keys, [expand], attempts));
    },
    async children(keys, _collections, attempts) {
      const options = ['_select=ListingKey', expand];
      return pageOf('Property', await listingsOf(keys, options, attempts), 'children');
    },
  };

  /** A page whose listings are asked for one by one. */
  async function pageApart(resource: string, walk: Walk, where: Place): Promise<SourcePage> {
    if (resource === ACCOUNTS) {
      throw new RequestFailure('too-large', `${root}${ACCOUNTS} has records that are too large to be read`);
    }
    const { position } = where;
    const [filter] = walk.kind === 'window' ? optionsOf(resource, walk) : [];
    const query = [
      `_limit=${sizeOf(where)}`,
      ...(filter === undefined ? [] : [filter]),
      '_select=ListingKey',
    ];
    const answer = await list(LISTINGS, [...query, place(resource, position)]);
    const page = await keysOnly(resource, answer);
    // The download asks for sub-data by itself.
    const options = walk.kind === 'window' ? [expand] : [];
    const asked = walk.kind === 'window' ? 'whole' : 'bare';
    const keys = page.keys.map(({ key }) => key);
    const some = await oneByOne(resource, keys, async (key) =>
      pageOf(resource, await listingsOf([key], options, undefined), asked),
    );
    return {
      ...page,
      ...some,
      items: [...some.items, ...page.items],
      broken: [...some.broken, ...page.broken],
      next: nextOf(resource, answer, position),
    };
  }

  /** Listings by their keys. A source may give fewer at once than were asked for: it is asked for the others again. */
  async function listingsOf(
    keys: readonly string[],
    options: readonly string[],
    attempts: number | undefined,
  ): Promise<NativeAnswer> {
    const answers = [await byPath(LISTINGS, keys.filter(isUnwritable), options, attempts)];
    for (let left = keys.filter((key) => !isUnwritable(key)); left.length > 0; ) {
      const filter = `_filter=ListingKey Eq ${left.map(quoted).join(',')}`;
      const answer = await list(LISTINGS, [`_limit=${left.length}`, filter, ...options], attempts);
      answers.push(answer);
      const given = new Set(keysOf(LISTINGS, answer.results).map(({ key }) => key));
      const rest = left.filter((key) => !given.has(key));
      if (rest.length === left.length) break;
      left = rest;
    }
    return joined(answers);
  }

  /** Records one by one; those that are not there are left out. */
  async function byPath(
    collection: string,
    keys: readonly string[],
    options: readonly string[],
    attempts: number | undefined,
  ): Promise<NativeAnswer> {
    const answers: NativeAnswer[] = [];
    const query = options.length === 0 ? '' : `?${options.map(encodeParameter).join('&')}`;
    for (const key of keys) {
      try {
        const url = `${root}${collection}/${encodeURIComponent(key)}${query}`;
        answers.push(await read(url, attempts));
      } catch (error) {
        if (!(error instanceof RequestFailure && error.status === 404)) throw error;
      }
    }
    return joined(answers);
  }
}

const joined = (answers: readonly NativeAnswer[]): NativeAnswer => ({
  results: answers.flatMap(({ results }) => results),
  token: undefined,
  serverTime: Math.max(0, ...answers.map(({ serverTime }) => serverTime)),
  total: undefined,
  weight: answers.reduce((sum, { weight }) => sum + weight, 0),
});

const KINDS: ReadonlySet<unknown> = new Set(['Member', 'Office']);

function keysOf(collection: string, results: readonly unknown[]): SourceKey[] {
  return results.flatMap((result) => {
    if (!isObject(result) || typeof result.Id !== 'string') return [];
    const resource = collection === ACCOUNTS ? result.UserType : 'Property';
    if (typeof resource !== 'string' || (collection === ACCOUNTS && !KINDS.has(resource))) return [];
    return [{ resource, key: result.Id }];
  });
}

/** A success in the native envelope. */
interface NativeAnswer {
  readonly results: readonly unknown[];
  readonly token: string | undefined;
  readonly serverTime: number;
  readonly total: number | undefined;
  readonly weight: number;
}

/** @throws RequestFailure `transient` for an answer in another form */
export function readResults(answer: Answer): NativeAnswer {
  const { D: content } = readJson(answer);
  if (!isObject(content) || !Array.isArray(content.Results)) {
    throw new RequestFailure('transient', `${answer.url} answered without D.Results`);
  }
  const { SkipToken: token, Pagination: pagination } = content;
  const total =
    isObject(pagination) && typeof pagination.TotalRows === 'number' ? pagination.TotalRows : undefined;
  return {
    results: content.Results,
    token: typeof token === 'string' && token !== '' ? token : undefined,
    serverTime: readDate(answer),
    total,
    weight: answer.text.length,
  };
}

/** A character literal of the native language: a backslash stands before a quote, and for itself before all else. */
const quoted = (key: string): string => `'${key.replaceAll("'", "\\'")}'`;

/** A backslash before a quote, or at the end, has no literal. */
const isUnwritable = (key: string): boolean => key.includes('\\');

function encodeParameter(parameter: string): string {
  const [name = '', value = ''] = parameter.split(/=(.*)/s, 2);
  return `${name}=${encodeURIComponent(value).replace(/%(?:2C|27|3A)/g, decodeURIComponent)}`;
}
