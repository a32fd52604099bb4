/** A server with the native interface as a source (specification 4.3). It knows nothing about the copy. */
import { isObject } from '../../../shared/json.ts';
import { RequestFailure } from '../../http/failure.ts';
import { eventFeed } from '../events.ts';
import { withRecordsOneByOne } from '../pages.ts';
import { keyFromValue, type SourceOptions, servedAt, serverClock } from '../response.ts';
import {
  ACCOUNTS,
  expandsCustomFields,
  type PageRequest,
  type Source,
  type SourcePage,
  type Walk,
  type WalkPosition,
} from '../source.ts';
import type { CustomNames } from './native-json.ts';
import { type Asked, NativeRecords } from './records.ts';
import {
  joinResponses,
  keysOf,
  LISTINGS,
  MANY,
  NativeRequests,
  type NativeResponse,
  SMALLEST,
} from './requests.ts';

interface NativeSourceOptions extends SourceOptions {
  readonly customNames: CustomNames;
}

const SELECT_KEY = '_select=ListingKey';

const pathOf = (resource: string): string => (resource === ACCOUNTS ? ACCOUNTS : LISTINGS);

const filterOf = (walk: Walk): string[] =>
  walk.kind === 'all' ? [] : [`_filter=${walk.field} bt ${walk.lower},${walk.upper}`];

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

export function nativeSource(options: NativeSourceOptions): Source {
  const { client, root, capabilities } = options;
  const requests = new NativeRequests(options);
  const records = new NativeRecords(options);
  /** Whether the source ignores the expansion of sub-resources. */
  const isApart = capabilities.children === 'per-listing';
  const expanded = capabilities.expansions.filter((each) => !isApart || each === 'CustomFields');
  const expand = expanded.length === 0 ? [] : [`_expand=${expanded.join(',')}`];
  const whole: Asked = isApart ? 'bare' : 'whole';

  /**
   * A download cannot request custom fields, and without them its listings are incomplete. It therefore reads keys first, and then
   * each listing.
   */
  const readsKeysFirst = (resource: string, { kind }: Walk): boolean =>
    kind === 'all' && resource !== ACCOUNTS && expandsCustomFields(capabilities);

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
      const answer = await requests.list(pathOf(resource), query, request.attempts);
      const next = nextOf(resource, answer, request);
      const page = readsKeysFirst(resource, walk)
        ? await records.keysOnly(resource, answer)
        : await records.pageOf(resource, answer, walk.kind === 'all' ? 'bare' : whole);
      return { ...page, next };
    },
    async keys(resource, request) {
      const select = resource === ACCOUNTS ? '_select=UserType' : SELECT_KEY;
      const query = [select, ...optionsOfPage(resource, request)];
      const answer = await requests.list(pathOf(resource), query, request.attempts);
      const { results, facts, total } = answer;
      const keyless = results.filter(
        (result) => !isObject(result) || keyFromValue(result.Id) === undefined,
      ).length;
      const next = nextOf(resource, answer, request);
      return { keys: keysOf(resource, results), keyless, nameless: [], next, ...facts, total };
    },
    async recordsByKey(resource, keys, attempts, distinct) {
      if (resource !== 'Property')
        return records.pageOf(ACCOUNTS, await requests.byPath(ACCOUNTS, keys, [], attempts));
      return records.pageOf(resource, await requests.listingsOf(keys, expand, attempts, distinct), whole);
    },
    children: (keys, _collections, attempts) => children(keys, attempts),
    async childrenOfMany(keys, attempts) {
      return !isApart && requests.canFilterBy(keys) ? children(keys, attempts) : undefined;
    },
    changeFeeds: capabilities.isPlat ? [eventFeed(client, root)] : [],
  };

  /** The initial download sends only _limit, _skiptoken and _select (specification 4.3, rule 1). */
  function optionsOfWalk(resource: string, walk: Walk): string[] {
    if (walk.kind === 'window') return [...filterOf(walk), ...expand];
    return readsKeysFirst(resource, walk) ? [SELECT_KEY] : [];
  }

  async function children(keys: readonly string[], attempts?: number): Promise<SourcePage> {
    if (!isApart) {
      const partsOf = (key: string): Promise<NativeResponse> => requests.partsOf(key, attempts);
      const answer = await requests.listingsOf(keys, [SELECT_KEY, ...expand], attempts, undefined, partsOf);
      return records.pageOf('Property', answer, 'children');
    }
    const answers: NativeResponse[] = [];
    for (const key of keys) answers.push(await requests.partsOf(key, attempts));
    return records.pageOf('Property', joinResponses(answers), 'children');
  }

  /** Reads a page whose listings are requested one by one. */
  async function pageOneByOne(resource: string, walk: Walk, request: PageRequest): Promise<SourcePage> {
    if (resource === ACCOUNTS) {
      throw new RequestFailure('too-large', `${root}${ACCOUNTS} has records that are too large to be read`);
    }
    const answer = await requests.list(LISTINGS, [
      ...filterOf(walk),
      SELECT_KEY,
      ...optionsOfPage(resource, request),
    ]);
    const page = await records.keysOnly(resource, answer);
    // The download requests sub-resources separately.
    const [query, asked] = walk.kind === 'window' ? [expand, whole] : [[], 'bare' as const];
    const complete = await withRecordsOneByOne(
      resource,
      page,
      async (key) =>
        records.pageOf(resource, await requests.listingsOf([key], query, request.attempts), asked),
      request.known,
    );
    return { ...complete, next: nextOf(resource, answer, request) };
  }
}
