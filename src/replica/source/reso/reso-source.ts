/** A RESO Web API server as a source (specification 4.2, 4.4), however few features it has. It knows nothing about the copy. */
import { RequestFailure } from '../../http/failure.ts';
import { eventFeed } from '../events.ts';
import { requestOneByOne, withRecordsOneByOne } from '../pages.ts';
import { rowsWithoutKey, type SourceOptions, servedAt, serverClock } from '../response.ts';
import type { ChangeFeed, PageRequest, Source, SourcePage, WalkPosition } from '../source.ts';
import { childrenOf, recordsByKey } from './by-key.ts';
import { type Query, type ResoAccess, ResoCollections, type TopMeans } from './collections.ts';
import { deltaFeed } from './delta-links.ts';
import { entityEventFeed } from './entity-events.ts';
import { deltaLinkOf } from './lists.ts';
import { rowsAfter, withOverlap } from './offsets.ts';
import { platRanges } from './plat-ranges.ts';
import { ResoRecords } from './records.ts';
import { filterBy, windowCondition, withKeysAlone, withOptions, withRecords } from './urls.ts';

interface ResoSourceOptions extends SourceOptions {
  readonly topMeans: TopMeans;
  readonly windowField: (resource: string) => string;
  /** Milliseconds between two requests for new entity events; absent: the source has none. */
  readonly pollEvery: number | undefined;
  /** Milliseconds between two rounds of requests for deltas, by the number of collections. */
  readonly deltasEvery: (collections: number) => number;
}

/** The maximum number of keys in one filter, so that the URL stays well below the limits of servers. */
const MANY = 50;

export function resoSource(options: ResoSourceOptions): Source {
  const { client, root, capabilities, topMeans } = options;
  const { keyed = [], keyedWindows = [] } = capabilities;
  const records = new ResoRecords(options);
  const collections = new ResoCollections(options, records);
  const access = { client, root, capabilities, topMeans, collections, records };
  const [first = 'Property'] = capabilities.resources;

  return {
    capabilities,
    foreignFields: options.foreignFields,
    servedAt: servedAt(options, root),
    someAtOnce: MANY,
    serverTime: serverClock(
      client,
      root,
      withOptions(`${root}${first}`, ['$top=1', ...filterBy(capabilities.filter), records.selectKey(first)]),
    ),
    discovered: options.discovered,
    shown: options.shown,
    windowField: options.windowField,
    async page(name, walk, request) {
      const isKeyed = (walk.kind === 'all' ? keyed : keyedWindows).includes(name);
      const rows = { where: [windowCondition(walk)], isKeyed };
      if (request.apart === true) return pageOneByOne(access, name, rows, request);
      const query = { ...rows, options: [...collections.counted, ...records.expand(name)] };
      const answer = await collections.readWalk(name, walk, query, request);
      const delta = deltaLinkOf(answer, root);
      const next = collections.next(name, query, answer, request);
      if (walk.kind === 'all') return { ...records.pageOf(name, answer.values, answer.facts), next, delta };
      const keys = (values: readonly unknown[]) => records.keysOf(name, values).map(({ key }) => key);
      const fresh = rowsAfter(answer.values, request.position, (value) => keys([value])[0]);
      return {
        ...records.pageOf(name, fresh, answer.facts),
        next: withOverlap(next, answer.values, fresh, keys),
        delta,
      };
    },
    async keys(name, request) {
      const isKeyed = keyed.includes(name);
      const query = { options: [records.selectKey(name), ...collections.counted], showsNulls: true, isKeyed };
      const answer = await collections.readPage(name, query, request);
      const { values, facts } = answer;
      const next = collections.next(name, query, answer, request);
      return {
        keys: records.keysOf(name, values),
        ...rowsWithoutKey(records.resourceOf(name), values),
        next,
        ...facts,
      };
    },
    recordsByKey: (...of) => recordsByKey(access, ...of),
    children: (keys, names, attempts) =>
      requestOneByOne(keys, (key) => childrenOf(access, key, names, attempts)),
    ...(capabilities.isPlat && capabilities.filter === undefined
      ? { ranges: platRanges(options, records, (name, key) => recordsByKey(access, name, [key])) }
      : {}),
    // The changes of a source concern all of its records, not only those with a filter.
    changeFeeds: capabilities.filter === undefined ? changeFeeds(options, access) : [],
  };
}

function changeFeeds(
  { client, root, capabilities, pollEvery, deltasEvery }: ResoSourceOptions,
  { collections, records }: ResoAccess,
): readonly ChangeFeed[] {
  return [
    ...(capabilities.isPlat ? [eventFeed(client, root)] : []),
    deltaFeed({
      client,
      readPage: collections.readAt,
      root,
      clock: client.clock,
      every: deltasEvery,
      optionsOf: (name) => records.expand(name),
      keyOf: (name) => records.resourceOf(name).key,
      itemOf: capabilities.isPlat ? (name, value) => records.itemOf(name, value) : undefined,
    }),
    ...(pollEvery === undefined
      ? []
      : [entityEventFeed({ client, root, clock: client.clock, every: pollEvery })]),
  ];
}

/**
 * Reads a page whose records are requested one by one. A next link is changed to request only keys, and the next link of that
 * page is changed back, if it is known how; otherwise, later pages could be read without their fields.
 */
async function pageOneByOne(
  access: ResoAccess,
  name: string,
  query: Pick<Query, 'where' | 'isKeyed'>,
  request: PageRequest,
): Promise<SourcePage> {
  const { root, capabilities, collections, records } = access;
  const { key } = records.resourceOf(name);
  const { position } = request;
  const noWay = new RequestFailure(
    'too-large',
    `${root}${name} has records that are too large, and offers no request that skips them`,
  );
  if (!capabilities.asksForMany && capabilities.byKey === 'none') throw noWay;
  const expansions = records.expansionsOf(name);
  const toKeys = (link: string): string | undefined => withKeysAlone(link, key, expansions);
  const toRecords = (link: string): string | undefined => withRecords(link, key, expansions);
  const convertLink = <P extends WalkPosition | undefined>(
    from: P,
    turn: typeof toKeys,
  ): P | WalkPosition => {
    if (from?.kind !== 'link') return from;
    const url = turn(from.url);
    if (url === undefined) throw noWay;
    return { kind: 'link', url };
  };
  const asked = { ...query, options: [...collections.counted, records.selectKey(name)] };
  const at = { ...request, position: convertLink(position, toKeys) };
  const answer = await collections.read(name, asked, at);
  const next = convertLink(collections.next(name, asked, answer, at), toRecords);
  const keyless = answer.values.filter((value) => records.keysOf(name, [value]).length === 0);
  const page = {
    ...records.pageOf(name, keyless, answer.facts),
    keys: records.keysOf(name, answer.values),
    next,
  };
  return withRecordsOneByOne(
    name,
    page,
    (each) => recordsByKey(access, name, [each], request.attempts),
    request.known,
  );
}
