/** A server with the native interface as a source (specification 4.3). It knows nothing about the copy. */
import { PART_EXPANSIONS, partOfExpansion } from '../../../dictionary/index.ts';
import { jsonOf } from '../../../records/nesting.ts';
import { isObject } from '../../../shared/json.ts';
import type { SourceResponse } from '../../http/client.ts';
import { isUnsupported, RequestFailure, unlessGone } from '../../http/failure.ts';
import { eventFeed } from '../events.ts';
import { withRecordsOneByOne } from '../pages.ts';
import {
  factsOf,
  faultWith200,
  keyFromValue,
  readJson,
  type SourceOptions,
  servedAt,
  serverClock,
  withoutEmptyLists,
} from '../response.ts';
import {
  ACCOUNTS,
  type BrokenItem,
  expandsCustomFields,
  type PageRequest,
  type Source,
  type SourceItem,
  type SourceKey,
  type SourcePage,
  type Walk,
  type WalkPosition,
} from '../source.ts';
import { utcReader } from '../time-zones.ts';
import {
  accountItem,
  type CustomNames,
  listingJson,
  nativeToReso,
  resourceOfAccount,
} from './native-json.ts';

interface NativeSourceOptions extends SourceOptions {
  readonly customNames: CustomNames;
}

/** How a listing was requested: with its collections, without them, or only for them. */
type Asked = 'whole' | 'bare' | 'children';

/** The maximum number of values in a condition of `_filter`. */
const MANY = 200;
/**
 * The minimum page size: if a source repeats the record of the token on the next page, a page of one record would always be that
 * record.
 */
const SMALLEST = 2;
const LISTINGS = 'listings';
const SELECT_KEY = '_select=ListingKey';

export function nativeSource(options: NativeSourceOptions): Source {
  const { client, root, capabilities, dictionary, customNames } = options;
  const listing = dictionary.resources.get('Property');
  const names = listing === undefined ? new Map<string, string>() : nativeToReso(listing);
  const inUtc = capabilities.assumesUtc === true ? utcReader(dictionary, options.foreignFields) : undefined;
  /** Whether the source ignores the expansion of sub-resources. */
  const isApart = capabilities.children === 'per-listing';
  const expanded = capabilities.expansions.filter((each) => !isApart || each === 'CustomFields');
  const expand = expanded.length === 0 ? [] : [`_expand=${expanded.join(',')}`];
  const whole: Asked = isApart ? 'bare' : 'whole';
  /** Whether the source filters by keys, which the specification does not list (4.3); undefined until it has done so or refused. */
  let filtersByKey: boolean | undefined;

  const pathOf = (resource: string): string => (resource === ACCOUNTS ? ACCOUNTS : LISTINGS);

  function list(path: string, query: readonly string[], attempts?: number): Promise<NativeResponse> {
    const parameters = query.map(encodeParameter).join('&');
    return client.get(`${root}${path}${parameters === '' ? '' : `?${parameters}`}`, readResults, {
      attempts,
    });
  }

  /** The query options that select a page of a walk. */
  function optionsOfPage(resource: string, { position, size }: PageRequest): string[] {
    const begin =
      resource === ACCOUNTS
        ? `_skip=${position?.kind === 'skip' ? position.skip : 0}`
        : `_skiptoken=${position?.kind === 'token' ? position.token : ''}`;
    return [`_limit=${Math.max(size, SMALLEST)}`, begin];
  }

  /** The position of the next page. A walk ends with an empty page or a missing token; the same token twice is an error. */
  function nextOf(
    resource: string,
    { results, token }: NativeResponse,
    { position }: PageRequest,
  ): WalkPosition | undefined {
    if (results.length === 0) return undefined;
    if (resource === ACCOUNTS) {
      return { kind: 'skip', skip: (position?.kind === 'skip' ? position.skip : 0) + results.length };
    }
    if (token === undefined) return undefined;
    if (position?.kind === 'token' && position.token === token) {
      // The page has only the record of the token, and nothing follows it.
      if (results.length === 1) return undefined;
      throw new RequestFailure('rejected', `The source gave the skip token ${token} twice`);
    }
    return { kind: 'token', token };
  }

  /** The records of a response. @throws AuxiliaryFailure */
  async function pageOf(
    resource: string,
    { results, facts, total }: NativeResponse,
    asked: Asked = 'whole',
  ): Promise<SourcePage> {
    if (resource !== ACCOUNTS) await customNames.learnUnknown(results.filter(isObject));
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const masked = new Set<string>();
    const open = new Set<string>();
    for (const result of results) {
      const item = itemOf(resource, result, masked, asked);
      if (item !== undefined) {
        const json = inUtc?.(item.resource, item.json) ?? item.json;
        for (const name of Object.keys(json)) if (json[name] !== null) open.add(name);
        items.push({ ...item, json });
      } else {
        const reason = 'The record does not have the expected format';
        broken.push({ resource, payload: jsonOf(result), reason });
      }
    }
    const keys = keysOf(resource, results);
    return { items, broken, keys, ...facts, total, masked: [...masked], open: [...open] };
  }

  function itemOf(
    resource: string,
    result: unknown,
    masked: Set<string>,
    asked: Asked,
  ): SourceItem | undefined {
    if (!isObject(result)) return undefined;
    if (resource === ACCOUNTS) return accountItem(result);
    const mapped = listingJson(result, names, customNames.nameOf);
    if (mapped === undefined) return undefined;
    for (const name of mapped.masked) masked.add(name);
    const json = asked === 'bare' ? withoutEmptyLists(mapped.json) : mapped.json;
    return { resource: 'Property', json, ...(asked === 'children' ? { onlyChildren: true } : {}) };
  }

  /**
   * A download cannot request custom fields, and without them its listings are incomplete. It therefore reads keys first, and then
   * each listing.
   */
  const readsKeysFirst = (resource: string, { kind }: Walk): boolean =>
    kind === 'all' && resource !== ACCOUNTS && expandsCustomFields(capabilities);

  const filterOf = (walk: Walk): string[] =>
    walk.kind === 'all' ? [] : [`_filter=${walk.field} bt ${walk.lower},${walk.upper}`];

  /** The initial download sends only _limit, _skiptoken and _select (specification 4.3, rule 1). */
  function optionsOfWalk(resource: string, walk: Walk): string[] {
    if (walk.kind === 'window') return [...filterOf(walk), ...expand];
    return readsKeysFirst(resource, walk) ? [SELECT_KEY] : [];
  }

  /** Converts a response to a page of keys. A member without a key is kept unchanged. */
  async function keysOnly(resource: string, answer: NativeResponse): Promise<SourcePage> {
    const keyless = answer.results.filter((result) => keysOf(resource, [result]).length === 0);
    const page = await pageOf(resource, { ...answer, results: keyless });
    return { ...page, keys: keysOf(resource, answer.results) };
  }

  async function children(keys: readonly string[], attempts?: number): Promise<SourcePage> {
    if (!isApart) {
      const answer = await listingsOf(keys, [SELECT_KEY, ...expand], attempts, undefined, partsOf);
      return pageOf('Property', answer, 'children');
    }
    const answers: NativeResponse[] = [];
    for (const key of keys) answers.push(await partsOf(key, [], attempts));
    return pageOf('Property', joinResponses(answers), 'children');
  }

  return {
    capabilities,
    foreignFields: options.foreignFields,
    servedAt: servedAt(options, `${root}system`),
    someAtOnce: MANY,
    serverTime: serverClock(client, `${root}system`, `${root}${LISTINGS}?_limit=1&${SELECT_KEY}`),
    discovered: options.discovered,
    shown: options.shown,
    windowField: () => capabilities.windowField,
    async page(resource, walk, request) {
      if (request.apart === true) return pageOneByOne(resource, walk, request);
      const [limit = '', begin = ''] = optionsOfPage(resource, request);
      const query = [limit, ...optionsOfWalk(resource, walk), begin];
      const answer = await list(pathOf(resource), query, request.attempts);
      const next = nextOf(resource, answer, request);
      const page = readsKeysFirst(resource, walk)
        ? await keysOnly(resource, answer)
        : await pageOf(resource, answer, walk.kind === 'all' ? 'bare' : whole);
      return { ...page, next };
    },
    async keys(resource, request) {
      const select = resource === ACCOUNTS ? '_select=UserType' : SELECT_KEY;
      const query = [select, ...optionsOfPage(resource, request)];
      const answer = await list(pathOf(resource), query, request.attempts);
      const { results, facts, total } = answer;
      const keyless = results.filter(
        (result) => !isObject(result) || keyFromValue(result.Id) === undefined,
      ).length;
      const next = nextOf(resource, answer, request);
      return { keys: keysOf(resource, results), keyless, nameless: [], next, ...facts, total };
    },
    async recordsByKey(resource, keys, attempts, distinct) {
      if (resource !== 'Property') return pageOf(ACCOUNTS, await byPath(ACCOUNTS, keys, [], attempts));
      return pageOf(resource, await listingsOf(keys, expand, attempts, distinct), whole);
    },
    children: (keys, _collections, attempts) => children(keys, attempts),
    async childrenOfMany(keys, attempts) {
      // A single listing does not show whether the source filters by keys.
      const isPossible = !isApart && (filtersByKey ?? keys.length > 1);
      return isPossible && !keys.some(isUnwritable) ? children(keys, attempts) : undefined;
    },
    changeFeeds: capabilities.isPlat ? [eventFeed(client, root)] : [],
  };

  /** Reads a page whose listings are requested one by one. */
  async function pageOneByOne(resource: string, walk: Walk, request: PageRequest): Promise<SourcePage> {
    if (resource === ACCOUNTS) {
      throw new RequestFailure('too-large', `${root}${ACCOUNTS} has records that are too large to be read`);
    }
    const answer = await list(LISTINGS, [...filterOf(walk), SELECT_KEY, ...optionsOfPage(resource, request)]);
    const page = await keysOnly(resource, answer);
    // The download requests sub-resources separately.
    const [query, asked] = walk.kind === 'window' ? [expand, whole] : [[], 'bare' as const];
    const complete = await withRecordsOneByOne(
      resource,
      page,
      async (key) => pageOf(resource, await listingsOf([key], query, request.attempts), asked),
      request.known,
    );
    return { ...complete, next: nextOf(resource, answer, request) };
  }

  /**
   * Requests listings by their keys. A source may return fewer than were requested, so the others are requested again.
   * @param alone requests a listing of a source that does not filter by keys
   */
  async function listingsOf(
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
    distinct?: string,
    alone = afterToken,
  ): Promise<NativeResponse> {
    // A request by path is never answered from a possibly outdated index.
    const isApart = (key: string): boolean =>
      isUnwritable(key) || (distinct !== undefined && keys.length === 1);
    const answers = [await byPath(LISTINGS, keys.filter(isApart), query, attempts)];
    for (let left = keys.filter((key) => !isApart(key)); left.length > 0; ) {
      const answer = await byFilter(left, query, attempts, distinct);
      if (answer === undefined) {
        for (const key of left) answers.push(await alone(key, query, attempts));
        break;
      }
      answers.push(answer);
      const given = new Set(keysOf(LISTINGS, answer.results).map(({ key }) => key));
      const rest = left.filter((key) => !given.has(key));
      if (rest.length === left.length) break;
      left = rest;
    }
    return joinResponses(answers);
  }

  /** The listings with these keys; undefined if the source does not filter by keys. */
  async function byFilter(
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
    distinct?: string,
  ): Promise<NativeResponse | undefined> {
    if (filtersByKey === false) return undefined;
    const named = [...keys, ...(distinct === undefined ? [] : [distinct])];
    const filter = `_filter=ListingKey Eq ${named.map(quoted).join(',')}`;
    try {
      const answer = await list(LISTINGS, [`_limit=${keys.length}`, filter, ...query], attempts);
      filtersByKey = true;
      return answer;
    } catch (error) {
      // A request for many may have been refused for its size, and is repeated in halves.
      if (filtersByKey === true || keys.length > 1 || !isUnsupported(error)) throw error;
      filtersByKey = false;
      return undefined;
    }
  }

  /** The listing with this key, as the first one after a skip token that precedes it. */
  async function afterToken(
    key: string,
    query: readonly string[],
    attempts?: number,
  ): Promise<NativeResponse> {
    if (!/^\d*[1-9]\d*$/.test(key)) return byPath(LISTINGS, [key], query, attempts);
    for (let token = String(BigInt(key) - 1n).padStart(key.length, '0'); ; ) {
      const answer = await list(LISTINGS, [`_limit=${SMALLEST}`, `_skiptoken=${token}`, ...query], attempts);
      const results = answer.results.filter((result) => isObject(result) && keyFromValue(result.Id) === key);
      const last = keysOf(LISTINGS, answer.results).at(-1)?.key ?? key;
      // Longer keys can lie between the token and the key.
      if (results.length > 0 || last >= key || last <= token) return { ...answer, results };
      token = last;
    }
  }

  /** The sub-resources of a listing, each from its own path (specification 4.3). */
  async function partsOf(key: string, _query: readonly string[], attempts?: number): Promise<NativeResponse> {
    const fields: Record<string, unknown> = { ListingKey: key };
    const answers: NativeResponse[] = [];
    for (const expansion of PART_EXPANSIONS.filter((each) => capabilities.expansions.includes(each))) {
      const path = `${LISTINGS}/${encodeURIComponent(key)}/${partOfExpansion(expansion)}`;
      const members = new Map<unknown, unknown>();
      for (let grows = true; grows; ) {
        const query = [`_limit=${MANY}`, `_skip=${members.size}`];
        const page = await unlessGone(list(path, query, attempts));
        // If one sub-resource does not exist, the others may.
        if (page === undefined) break;
        answers.push(page);
        const before = members.size;
        for (const each of page.results) members.set(isObject(each) ? each.Id : each, each);
        fields[expansion] = [...members.values()];
        grows = page.results.length >= MANY && members.size > before;
      }
    }
    const results = answers.length === 0 ? [] : [{ Id: key, StandardFields: fields }];
    return { ...joinResponses(answers), results };
  }

  /** Requests records one by one, and omits those that do not exist. */
  async function byPath(
    path: string,
    keys: readonly string[],
    query: readonly string[],
    attempts?: number,
  ): Promise<NativeResponse> {
    const answers: NativeResponse[] = [];
    for (const key of keys) {
      const answer = await unlessGone(list(`${path}/${encodeURIComponent(key)}`, query, attempts));
      if (answer !== undefined) answers.push(answer);
    }
    return joinResponses(answers);
  }
}

function keysOf(resource: string, results: readonly unknown[]): SourceKey[] {
  return results.filter(isObject).flatMap((result) => {
    const of = resource === ACCOUNTS ? resourceOfAccount(result) : 'Property';
    const key = keyFromValue(result.Id);
    return of === undefined || key === undefined ? [] : [{ resource: of, key }];
  });
}

/** A successful response in the native envelope. */
interface NativeResponse {
  readonly results: readonly unknown[];
  readonly token: string | undefined;
  readonly facts: Pick<SourcePage, 'serverTime' | 'weight'>;
  readonly total: number | undefined;
}

const joinResponses = (answers: readonly NativeResponse[]): NativeResponse => ({
  results: answers.flatMap(({ results }) => results),
  token: undefined,
  facts: {
    serverTime: Math.max(0, ...answers.map(({ facts }) => facts.serverTime)),
    weight: answers.reduce((sum, { facts }) => sum + facts.weight, 0),
  },
  total: undefined,
});

/** Reads the results in the native envelope. @throws RequestFailure `transient` for a response in another format */
export function readResults(answer: SourceResponse): NativeResponse {
  const { D: content } = readJson(answer);
  if (!isObject(content) || !Array.isArray(content.Results)) {
    const { Success, Code, Message } = isObject(content) ? content : {};
    const said = [Code === undefined ? '' : `, code ${Code}`, Message === undefined ? '' : `: ${Message}`];
    const why = Success === false ? ` (Success is false${said.join('')})` : '';
    throw faultWith200(`${answer.url} responded without D.Results${why}`);
  }
  const { SkipToken: token, Pagination: pagination } = content;
  return {
    results: content.Results,
    token: typeof token === 'string' && token !== '' ? token : undefined,
    facts: factsOf(answer),
    total:
      isObject(pagination) && typeof pagination.TotalRows === 'number' ? pagination.TotalRows : undefined,
  };
}

/** A character literal of the native language: a backslash escapes a quote, and is an ordinary character everywhere else. */
const quoted = (key: string): string => `'${key.replaceAll("'", "\\'")}'`;

/**
 * Whether a literal cannot express a key: a backslash before a quote, or at the end, cannot be written, and `*` and `?` are wildcards,
 * which select other listings as well.
 */
const isUnwritable = (key: string): boolean => /[\\*?]/.test(key);

function encodeParameter(parameter: string): string {
  const [name = '', value = ''] = parameter.split(/=(.*)/s, 2);
  return `${name}=${encodeURIComponent(value).replace(/%(?:2C|27|3A)/g, decodeURIComponent)}`;
}
