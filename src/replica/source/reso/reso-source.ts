/** A RESO Web API server as a source (specification 4.2, 4.4), however few features it has. It knows nothing about the copy. */
import type { Resource } from '../../../dictionary/index.ts';
import { skipTokenOf } from '../../../query/skip-token.ts';
import { jsonOf } from '../../../records/nesting.ts';
import { isObject, type JsonObject, objectsIn } from '../../../shared/json.ts';
import { DIGEST_FORM } from '../../../store/digest.ts';
import type { SourceResponse } from '../../http/client.ts';
import {
  isDirectFailure,
  isUnsupported,
  mayBeRejectedForSize,
  RequestFailure,
  unlessGone,
} from '../../http/failure.ts';
import { eventFeed } from '../events.ts';
import { EMPTY_PAGE, joinPages, requestOneByOne, withRecordsOneByOne } from '../pages.ts';
import {
  factsOf,
  keyFromValue,
  readJson,
  rowsWithoutKey,
  type SourceOptions,
  servedAt,
  serverClock,
  withoutEmptyLists,
} from '../response.ts';
import type {
  BrokenItem,
  ChangeFeed,
  PageRequest,
  Source,
  SourceDigest,
  SourceItem,
  SourceKey,
  SourcePage,
  SourceRanges,
  Walk,
  WalkPosition,
} from '../source.ts';
import { utcReader } from '../time-zones.ts';
import { deltaFeed } from './delta-links.ts';
import { entityEventFeed } from './entity-events.ts';
import { deltaLinkOf, type ListResponse, nextLinkOf, pageReader, readList, ShortList } from './lists.ts';
import { offsetOfLink, rowsAfter, rowsBefore, withOverlap } from './offsets.ts';
import {
  childAddress,
  filterBy,
  literalOf,
  newCondition,
  quoted,
  recordAddress,
  windowCondition,
  withKeysAlone,
  withOptions,
  withRecords,
  withTop,
} from './urls.ts';

interface ResoSourceOptions extends SourceOptions {
  readonly topMeans: TopMeans;
  readonly windowField: (resource: string) => string;
  /** Milliseconds between two requests for new entity events; absent: the source has none. */
  readonly pollEvery: number | undefined;
  /** Milliseconds between two rounds of requests for deltas, by the number of collections. */
  readonly deltasEvery: (collections: number) => number;
}

/**
 * The meaning of `$top` for a server that has more records.
 * - `page`: the page size. The server returns a next link, whose `$top` may be lowered.
 * - `total`: the total number of rows. `$top` is not sent; the preference `odata.maxpagesize` sets the page size.
 * - `offset`: the server returns no next link, or it is unknown whether it would. Pages are read with `$top` and `$skip`.
 */
export type TopMeans = 'page' | 'total' | 'offset';

/** What a list of records is asked for, whatever its position and page size. */
interface Query {
  /** Conditions in addition to that of the copy; an undefined one is none. */
  readonly where?: readonly (string | undefined)[];
  readonly options?: readonly string[];
  /** Whether fields that are null are returned as well. */
  readonly showsNulls?: boolean;
  /** Whether the list is walked in the order of keys; otherwise, in the order and by the links of the source. */
  readonly isKeyed?: boolean;
}

/** Servers that cut off a list without a next link do so at a multiple of this number. */
const ROUND = 5;
/** The maximum number of keys in one filter, so that the URL stays well below the limits of servers. */
const MANY = 50;
/** The size down to which a rejected page is requested again in smaller pages (copy/page-size.ts). */
const SMALL = 10;
/** The RESO interface omits hidden fields and masks nothing. */
const UNMASKED = { masked: [], open: [] } as const;

export function resoSource(options: ResoSourceOptions): Source {
  const { client, root, capabilities, dictionary, topMeans } = options;
  const { expansions, counts, keyed = [], keyedWindows = [], lacksOffsets = false } = capabilities;
  const resourceOf = (name: string): Resource => {
    const resource = dictionary.resources.get(name);
    if (resource === undefined) throw new Error(`The dictionary has no resource ${name}`);
    return resource;
  };
  const hasNumericKeys = capabilities.hasNumericKeys === true;
  const inUtc = capabilities.assumesUtc === true ? utcReader(dictionary, options.foreignFields) : undefined;
  const literal = (key: string): string => literalOf(key, hasNumericKeys);
  const isUnasked = capabilities.unasked === true;
  const isExpanded = (name: string): boolean =>
    name === 'Property' && capabilities.children === 'expanded' && expansions.length > 0 && !isUnasked;
  const expand = (name: string): string[] => (isExpanded(name) ? [`$expand=${expansions.join(',')}`] : []);
  const readPage = pageReader(client);
  let refusesTracking = false;
  const isByKey = (name: string, { kind }: Walk): boolean =>
    (kind === 'all' ? keyed : keyedWindows).includes(name);
  const selectKey = (name: string): string => `$select=${resourceOf(name).key}`;
  const counted = counts ? ['$count=true'] : [];
  const [first = 'Property'] = capabilities.resources;

  /** Reads a page of a collection. @param preferences in addition to the usual ones */
  async function read(
    resource: string,
    query: Query,
    request: PageRequest,
    preferences: readonly string[] = [],
  ): Promise<ListResponse> {
    // An absent field means null. Without this preference, nulls would be the larger part of a response.
    const without = query.showsNulls === true ? [] : ['omit-values=nulls'];
    const usual = [`odata.maxpagesize=${request.size}`, ...without];
    const headers = { prefer: [...usual, ...preferences].join(', ') };
    const { position, attempts } = request;
    const list = await readPage(addressOf(resource, query, request), `${root}${resource}`, {
      headers,
      attempts,
    });
    const { facts } = list;
    // A page after a key counts the records that follow the key.
    if (position?.kind !== 'key' || facts.total === undefined) return list;
    return { ...list, facts: { ...facts, total: position.skip + facts.total } };
  }

  /**
   * Reads a page. If the source ignores or rejects `$skip`, although it returns no next links, the page is taken from the first page,
   * provided that this has all records.
   */
  async function readPageOf(resource: string, query: Query, request: PageRequest): Promise<ListResponse> {
    const { position, size } = request;
    if (position?.kind !== 'skip') return read(resource, query, request);
    let cause: RequestFailure | undefined;
    try {
      if (!lacksOffsets) return await read(resource, query, request);
    } catch (error) {
      if (!isRejected(error) || position.skip > size) throw error;
      cause = error;
    }
    const first = { ...request, position: undefined, size: Math.max(size, position.skip) };
    const page = await read(resource, query, first);
    const { values } = page;
    if (await areAll(resource, query, first, values)) return { ...page, values: values.slice(position.skip) };
    throw new RequestFailure(
      'refused',
      `${resource} may have more records than the ${values.length} of its first page, and the source offers no way to them: it returns no next links, ignores or rejects $skip, and does not filter and sort by ${resourceOf(resource).key}. Ask its operator for next links, or use a --page-size for which a page has all records.`,
      { cause },
    );
  }

  /**
   * Whether a page has all records. Sorted in either direction, a page has the same records only if there are no others; otherwise,
   * the number that the source announces on a smaller page shows it.
   */
  async function areAll(
    resource: string,
    { where }: Query,
    request: PageRequest,
    values: readonly unknown[],
  ): Promise<boolean> {
    const isSame = await areSameSorted(resource, where, request, values).catch((error: unknown) => {
      if (isRejected(error)) return false;
      throw error;
    });
    if (isSame || !counts) return isSame;
    const one = { ...request, size: 1 };
    const { facts, values: fewer } = await read(resource, { where, options: counted }, one);
    return facts.total === values.length && fewer.length < values.length;
  }

  async function areSameSorted(
    resource: string,
    where: Query['where'],
    request: PageRequest,
    values: readonly unknown[],
  ): Promise<boolean> {
    const { key } = resourceOf(resource);
    const sorted = async (direction: string): Promise<string[]> => {
      const options = [...counted, selectKey(resource), `$orderby=${key} ${direction}`];
      return keysOf(resource, (await read(resource, { where, options }, request)).values).map(
        (each) => each.key,
      );
    };
    const keys = new Set(keysOf(resource, values).map((each) => each.key));
    const ascending = await sorted('asc');
    const descending = await sorted('desc');
    const isSame = keys.size === values.length && ascending.length === keys.size;
    return isSame && ascending.every((each, at) => keys.has(each) && each === descending.at(-1 - at));
  }

  function addressOf(
    resource: string,
    { where = [], options: shape = [], isKeyed = false }: Query,
    { position, size }: PageRequest,
  ): string {
    if (isKeyed && position !== undefined && position.kind !== 'key') {
      // An earlier run read the records in the order of the source.
      throw new RequestFailure(
        'rejected',
        `The earlier part of the walk was by offset, and this one is in the order of keys`,
      );
    }
    if (position?.kind === 'link') return topMeans === 'page' ? withTop(position.url, size) : position.url;
    const { key } = resourceOf(resource);
    const after = position?.kind === 'key' ? `${key} gt ${literal(position.key)}` : undefined;
    const isFiltered = after !== undefined || capabilities.filter !== undefined;
    // The bounds of a window are new in themselves.
    const isRecurring = isFiltered && where.every((each) => each === undefined);
    const takesKeys = isKeyed || capabilities.isPlat;
    const distinct =
      isRecurring && takesKeys ? newCondition(key, client.clock.now(), hasNumericKeys) : undefined;
    return withOptions(`${root}${resource}`, [
      ...(topMeans === 'total' ? [] : [`$top=${size}`]),
      ...filterBy(capabilities.filter, ...where, after, distinct),
      ...shape,
      ...(isKeyed ? [`$orderby=${key}`] : []),
      ...(position?.kind === 'skip' ? [`$skip=${position.skip}`] : []),
    ]);
  }

  /** The page after the last key of a page, unless the page is the last one. */
  function nextByKey(
    resource: string,
    answer: ListResponse,
    { position }: Pick<PageRequest, 'position'>,
  ): WalkPosition | undefined {
    const last = keysOf(resource, answer.values).at(-1);
    const mayGoOn = topMeans === 'offset' || nextLinkOf(answer, root) !== undefined;
    if (!mayGoOn || answer.values.length === 0) return undefined;
    if (last === undefined) {
      throw new RequestFailure('rejected', 'The source pages by key, and gave a page without keys');
    }
    return { kind: 'key', key: last.key, skip: rowsBefore(position) + answer.values.length };
  }

  /** The next page: the link, or an offset if the link leads to one, or if the server sends none but may have more. */
  function nextOf(
    answer: ListResponse,
    { position, size }: Pick<PageRequest, 'position' | 'size'>,
  ): WalkPosition | undefined {
    const { values } = answer;
    const before = rowsBefore(position);
    const rows = before + values.length;
    const link = nextLinkOf(answer, root);
    if (link !== undefined) {
      const url = client.resolve(link);
      const skip = offsetOfLink(url);
      if (skip !== undefined) return { kind: 'skip', skip };
      if (topMeans !== 'offset') return { kind: 'link', url };
      return { kind: 'link', url, skip: rows, end: position?.kind === 'link' ? position.end : before + size };
    }
    // If links end after exactly as many rows as `$top` requested, `$top` ended them, and there may be more rows.
    const isEnd = topMeans !== 'offset' || (position?.kind === 'link' && rows !== position.end);
    // A server may return fewer records than requested although it has more, and announce only the number on the page. Only an
    // empty page is the end.
    return isEnd || values.length === 0 ? undefined : { kind: 'skip', skip: rows };
  }

  function keysOf(name: string, values: readonly unknown[]): SourceKey[] {
    const { key } = resourceOf(name);
    return values.flatMap((value) => {
      const found = isObject(value) ? keyFromValue(value[key]) : undefined;
      return found === undefined ? [] : [{ resource: name, key: found }];
    });
  }

  function itemOf(resource: string, value: JsonObject): SourceItem {
    const keyed = withTextKey(resourceOf(resource).key, value);
    const json = inUtc?.(resource, keyed) ?? keyed;
    return {
      resource,
      json: isExpanded(resource) ? json : withoutEmptyLists(json, isUnasked ? expansions : []),
    };
  }

  function pageOf(
    resource: string,
    values: readonly unknown[],
    facts: Pick<SourcePage, 'serverTime' | 'weight' | 'total'>,
  ): SourcePage {
    const items: SourceItem[] = [];
    const broken: BrokenItem[] = [];
    const { key } = resourceOf(resource);
    const put = (value: unknown, reason: string): void =>
      void broken.push({ resource, payload: jsonOf(value), reason });
    for (const value of values) {
      if (!isObject(value)) put(value, 'The record is not a JSON object');
      else if (isInvalidKey(value[key])) put(value, `${key} is ${jsonOf(value[key])}, which is not a key`);
      else items.push(itemOf(resource, value));
    }
    return { items, broken, keys: keysOf(resource, values), ...facts, ...UNMASKED };
  }

  return {
    capabilities,
    foreignFields: options.foreignFields,
    servedAt: servedAt(options, root),
    someAtOnce: MANY,
    serverTime: serverClock(
      client,
      root,
      withOptions(`${root}${first}`, ['$top=1', ...filterBy(capabilities.filter), selectKey(first)]),
    ),
    discovered: options.discovered,
    shown: options.shown,
    windowField: options.windowField,
    async page(name, walk, request) {
      if (request.apart === true) return pageOneByOne(name, walk, request);
      const isKeyed = isByKey(name, walk);
      const query = { where: [windowCondition(walk)], options: [...counted, ...expand(name)], isKeyed };
      const answer = await (isTracked(walk, request) ? readTracked : readPageOf)(name, query, request);
      const delta = deltaLinkOf(answer, root);
      const next = isKeyed ? nextByKey(name, answer, request) : nextOf(answer, request);
      if (walk.kind === 'all') return { ...pageOf(name, answer.values, answer.facts), next, delta };
      const keys = (values: readonly unknown[]) => keysOf(name, values).map(({ key }) => key);
      const fresh = rowsAfter(answer.values, request.position, (value) => keys([value])[0]);
      return {
        ...pageOf(name, fresh, answer.facts),
        next: withOverlap(next, answer.values, fresh, keys),
        delta,
      };
    },
    async keys(name, request) {
      const isKeyed = keyed.includes(name);
      const query = { options: [selectKey(name), ...counted], showsNulls: true, isKeyed };
      const answer = await readPageOf(name, query, request);
      const { values, facts } = answer;
      const next = isKeyed ? nextByKey(name, answer, request) : nextOf(answer, request);
      return { keys: keysOf(name, values), ...rowsWithoutKey(resourceOf(name), values), next, ...facts };
    },
    recordsByKey: records,
    children: (keys, collections, attempts) =>
      requestOneByOne(keys, (key) => childrenOf(key, collections, attempts)),
    ...(capabilities.isPlat && capabilities.filter === undefined ? { ranges: platRanges() } : {}),
    // The changes of a source concern all of its records, not only those with a filter.
    changeFeeds: capabilities.filter === undefined ? changeFeeds() : [],
  };

  function changeFeeds(): readonly ChangeFeed[] {
    return [
      ...(capabilities.isPlat ? [eventFeed(client, root)] : []),
      deltaFeed({
        client,
        readPage,
        root,
        clock: client.clock,
        every: options.deltasEvery,
        optionsOf: expand,
        keyOf: (name) => resourceOf(name).key,
        itemOf: capabilities.isPlat ? itemOf : undefined,
      }),
      ...(options.pollEvery === undefined
        ? []
        : [entityEventFeed({ client, root, clock: client.clock, every: options.pollEvery })]),
    ];
  }

  /**
   * Whether a request is for the first page of a walk that may end with a delta link. A plat source returns a delta link without a
   * walk.
   */
  function isTracked(walk: Walk, { position }: PageRequest): boolean {
    return walk.kind === 'all' && position === undefined && !capabilities.isPlat && !refusesTracking;
  }

  async function readTracked(name: string, query: Query, request: PageRequest): Promise<ListResponse> {
    try {
      return await read(name, query, request, ['odata.track-changes']);
    } catch (error) {
      // The server may have refused the preference, or the size. If it may be the size, the caller requests a smaller page, without
      // the preference.
      if (!isRejected(error)) throw error;
      refusesTracking = true;
      if (mayBeRejectedForSize(error) && request.size > SMALL) throw error;
      return read(name, query, request);
    }
  }

  async function records(
    name: string,
    keys: readonly string[],
    attempts?: number,
    distinct?: string,
  ): Promise<SourcePage> {
    // A request for the URL of a record is never answered from a possibly outdated index.
    const isAlone = distinct !== undefined && keys.length === 1;
    if (!capabilities.asksForMany || isAlone)
      return requestOneByOne(keys, (key) => single(name, key, attempts));
    const list = [...keys, ...(distinct === undefined ? [] : [distinct])].map(quoted).join(',');
    const query = { where: [`${resourceOf(name).key} in (${list})`], options: expand(name) };
    return fetchAllPages(name, query, keys.length, attempts);
  }

  async function single(name: string, key: string, attempts?: number): Promise<SourcePage> {
    switch (capabilities.byKey) {
      case 'none':
        return EMPTY_PAGE;
      case 'filter': {
        const query = { where: [`${resourceOf(name).key} eq ${literal(key)}`], options: expand(name) };
        return fetchAllPages(name, query, 1, attempts);
      }
      default: {
        const url = withOptions(recordAddress(`${root}${name}`, literal(key)), expand(name));
        const one = (answer: SourceResponse): SourcePage => {
          const record = readJson(answer);
          // Some servers respond with a list of one record, or with an empty one.
          const isList = record[resourceOf(name).key] === undefined && Array.isArray(record.value);
          return pageOf(name, isList ? objectsIn(record.value) : [record], factsOf(answer));
        };
        return (await unlessGone(client.get(url, one, { attempts }))) ?? EMPTY_PAGE;
      }
    }
  }

  /** Reads a complete short list, in as many pages as the server returns. */
  async function fetchAllPages(
    name: string,
    query: Query,
    size: number,
    attempts?: number,
  ): Promise<SourcePage> {
    const pages: SourcePage[] = [];
    const list = new ShortList(`${root}${name}`);
    let position: WalkPosition | undefined;
    do {
      const answer = await read(name, query, { position, size, attempts });
      const { values, facts } = answer;
      if (!list.add(values)) {
        if (position?.kind === 'link') list.failRepeated();
        break; // the server does not support $skip here
      }
      pages.push(pageOf(name, values, facts));
      const next = values.length === 0 ? undefined : nextOf(answer, { position, size });
      // If all requested records have arrived, no further page by offset is needed.
      position = next?.kind === 'link' || values.length < size ? next : undefined;
    } while (position !== undefined);
    return joinPages(pages);
  }

  /**
   * Reads a page whose records are requested one by one. A next link is changed to request only keys, and the next link of that
   * page is changed back, if it is known how; otherwise, later pages could be read without their fields.
   */
  async function pageOneByOne(name: string, walk: Walk, request: PageRequest): Promise<SourcePage> {
    const { key } = resourceOf(name);
    const { position } = request;
    const noWay = new RequestFailure(
      'too-large',
      `${root}${name} has records that are too large, and offers no request that skips them`,
    );
    if (!capabilities.asksForMany && capabilities.byKey === 'none') throw noWay;
    const collections = isExpanded(name) ? expansions : [];
    const toKeys = (link: string): string | undefined => withKeysAlone(link, key, collections);
    const toRecords = (link: string): string | undefined => withRecords(link, key, collections);
    const convertLink = <P extends WalkPosition | undefined>(
      from: P,
      turn: typeof toKeys,
    ): P | WalkPosition => {
      if (from?.kind !== 'link') return from;
      const url = turn(from.url);
      if (url === undefined) throw noWay;
      return { kind: 'link', url };
    };
    const isKeyed = isByKey(name, walk);
    const query = { where: [windowCondition(walk)], options: [...counted, selectKey(name)], isKeyed };
    const at = { ...request, position: convertLink(position, toKeys) };
    const answer = await read(name, query, at);
    const next = isKeyed ? nextByKey(name, answer, at) : convertLink(nextOf(answer, at), toRecords);
    const keyless = answer.values.filter((value) => keysOf(name, [value]).length === 0);
    const page = { ...pageOf(name, keyless, answer.facts), keys: keysOf(name, answer.values), next };
    return withRecordsOneByOne(name, page, (each) => records(name, [each], request.attempts), request.known);
  }

  /** The requests in key order that only a plat source supports. */
  function platRanges(): SourceRanges {
    const urlAfter = (path: string, shape: readonly string[], key: string, size: number): string => {
      const skip = key === '' ? [] : [`$skiptoken=${skipTokenOf(key)}`];
      return withOptions(`${root}${path}`, [`$top=${size}`, ...shape, ...skip]);
    };
    return {
      async digests(name, key, size) {
        const url = urlAfter(`${name}/$digests`, expand(name), key, size);
        const list = await client.get(url, readList);
        const { page, values } = list;
        if (page.Form !== DIGEST_FORM) {
          throw new RequestFailure('rejected', 'The source returned digests in another format');
        }
        return { ranges: values.map(digestOf), more: nextLinkOf(list, root) !== undefined };
      },
      async recordsAfter(name, key, size, apart = false) {
        const url = urlAfter(name, apart ? [selectKey(name)] : expand(name), key, size);
        const headers = { prefer: 'omit-values=nulls' };
        const { values, facts } = await client.get(url, readList, { headers });
        if (!apart) return pageOf(name, values, facts);
        const page = { ...pageOf(name, [], facts), keys: keysOf(name, values) };
        return withRecordsOneByOne(name, page, (each) => records(name, [each]));
      },
    };
  }

  async function childrenOf(
    key: string,
    collections: readonly string[],
    attempts?: number,
  ): Promise<SourcePage> {
    const json: Record<string, unknown> = { [resourceOf('Property').key]: key };
    let serverTime = 0;
    let weight = 0;
    for (const collection of collections) {
      const form = capabilities.childrenAt ?? 'key';
      const first = childAddress(`${root}Property`, literal(key), collection, form);
      const list = await unlessGone(fetchChildList(first, attempts));
      // If one collection does not exist, the others may.
      if (list === undefined) continue;
      serverTime = Math.max(serverTime, list.serverTime);
      weight += list.weight;
      json[collection] = list.values;
    }
    if (Object.keys(json).length === 1) return EMPTY_PAGE;
    const items = [{ resource: 'Property', json: inUtc?.('Property', json) ?? json, onlyChildren: true }];
    return { ...EMPTY_PAGE, items, keys: [{ resource: 'Property', key }], serverTime, weight };
  }

  /** Reads a complete collection of a listing. */
  async function fetchChildList(first: string, attempts?: number) {
    const list = new ShortList(first);
    let serverTime = 0;
    let weight = 0;
    for (let url: string | undefined = first; url !== undefined; ) {
      const answer = await readPage(url, first, { attempts });
      const { values, facts } = answer;
      serverTime = facts.serverTime;
      weight += facts.weight;
      const isNew = list.add(values);
      const link = nextLinkOf(answer, root);
      if (link !== undefined && !isNew) list.failRepeated();
      if (!isNew) break; // the server does not support $skip here
      const mayGoOn: boolean = topMeans === 'offset' && values.length > 0 && values.length % ROUND === 0;
      url = link ?? (mayGoOn ? `${first}?$skip=${list.values.length}` : undefined);
    }
    return { values: list.values, serverTime, weight };
  }
}

/** Whether the source does not support the request. */
const isRejected = (error: unknown): error is RequestFailure =>
  isDirectFailure(error) && isUnsupported(error);

/** Parses the digest of a range. @throws RequestFailure for an invalid digest; the source is then compared record by record */
function digestOf(value: unknown): SourceDigest {
  const { Last: last, Rows: rows, Members: members, Digest: digest } = isObject(value) ? value : {};
  const isDigest = typeof last === 'string' && typeof rows === 'number' && typeof digest === 'string';
  if (!isDigest || !isObject(members)) throw new RequestFailure('rejected', 'The source returned no digests');
  const numbers = Object.entries(members).map(([name, number]) => [name, Number(number)] as const);
  return { last, rows, members: Object.fromEntries(numbers), digest };
}

/** Whether a value is present but is not a key, such as a fraction or true. */
const isInvalidKey = (given: unknown): boolean =>
  given !== undefined && given !== null && given !== '' && keyFromValue(given) === undefined;

/** Keys are strings, but a source may return a numeric key as a number. */
function withTextKey(key: string, record: JsonObject): JsonObject {
  const { [key]: given } = record;
  const text = keyFromValue(given);
  return text === undefined || text === given ? record : { ...record, [key]: text };
}
