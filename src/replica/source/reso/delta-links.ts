/**
 * Delta links (OData 4.01 protocol, 11.3) as a method to learn of changes: each collection has a link, which is followed repeatedly
 * and returns the current state of all records that have changed. A plat source returns complete records; from other sources, only
 * the keys are used, since they may return only the changed fields.
 */
import type { Clock } from '../../../shared/clock.ts';
import { isObject, type JsonObject, tryParseJson } from '../../../shared/json.ts';
import type { SourceClient } from '../../http/client.ts';
import { isTooLarge, isUnsupported, RequestFailure, stopped } from '../../http/failure.ts';
import { SeenTexts } from '../loop-guard.ts';
import { keyFromValue } from '../response.ts';
import type { ChangeFeed, FeedReport, ReportedChange, SourceItem } from '../source.ts';
import { deltaLinkOf, type ListResponse, nextLinkOf, type PageReader } from './lists.ts';
import { withOptions } from './urls.ts';

/** The preferred number of entries on a page, which the source may ignore. */
const PAGE = 1000;
const ATTEMPTS = 2;
/** Milliseconds after which a new link is stored even if it returned no changes, because the stored link may expire. */
const RENEWED = 60_000;
/** Statuses of a link that is no longer valid, because it has expired (410) or belongs to another source or key. */
const DEAD: ReadonlySet<unknown> = new Set([400, 404, 410]);

interface DeltaOptions {
  readonly client: SourceClient;
  readonly readPage: PageReader;
  readonly root: string;
  readonly clock: Clock;
  /** Milliseconds between two rounds of requests while nothing changes. A round has one request per collection. */
  readonly every: (collections: number) => number;
  /** The query options of a walk through a collection that its delta link retains. */
  readonly optionsOf: (collection: string) => readonly string[];
  /** The key field of a collection's records. */
  readonly keyOf: (collection: string) => string;
  /** Converts a changed record, as in a walk; absent if changed records may be incomplete. */
  readonly itemOf: ((collection: string, value: JsonObject) => SourceItem) | undefined;
}

/** The links of collections, by name. */
type Links = Map<string, string>;

const positionOf = (links: Links): string => JSON.stringify(Object.fromEntries(links));

function parseLinks(position: string): Links | undefined {
  const value = tryParseJson(position);
  if (!isObject(value)) return undefined;
  const links = Object.entries(value).flatMap(([name, link]) =>
    typeof link === 'string' ? [[name, link] as const] : [],
  );
  return links.length === 0 ? undefined : new Map(links);
}

export function deltaFeed({ client, readPage, root, clock, every, ...of }: DeltaOptions): ChangeFeed {
  const ask = (collection: string, url: string, preference: string): Promise<ListResponse> =>
    readPage(client.resolve(url), `${root}${collection}`, {
      attempts: ATTEMPTS,
      headers: { prefer: preference, 'odata-maxversion': '4.01' },
    });

  /** Requests a link whose delta begins now, without a walk; undefined if the source returns none. */
  async function requestNewLink(collection: string): Promise<string | undefined> {
    const url = withOptions(`${root}${collection}`, ['$top=0', ...of.optionsOf(collection)]);
    return unlessUnsupported(async () =>
      deltaLinkOf(await ask(collection, url, 'odata.track-changes'), root),
    );
  }

  /** The link, if it is still valid; otherwise undefined. */
  async function linkIfAlive(collection: string, link: string): Promise<string | undefined> {
    return unlessUnsupported(async () => {
      await ask(collection, link, `odata.maxpagesize=${PAGE}`);
      return link;
    });
  }

  /** The changes of a collection since its link, page by page. @returns the next link, and whether there were changes */
  async function* changesAt(
    collection: string,
    since: string,
    asOf: () => number,
  ): AsyncGenerator<FeedReport, { readonly link: string; readonly isNew: boolean }> {
    const seen = new SeenTexts();
    let size = PAGE;
    let isNew = false;
    for (let url = since; ; ) {
      const moment = asOf();
      let answer: ListResponse;
      try {
        answer = await ask(collection, url, `odata.maxpagesize=${size}`);
      } catch (error) {
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.ceil(size / 4);
        continue;
      }
      const { values, facts } = answer;
      const link = deltaLinkOf(answer, root);
      // If another page follows, it may contain changes from before this time.
      const at = link === undefined ? undefined : facts.serverTime;
      const changes = values.map((value) => changeOf(collection, value, { at, asOf: moment }));
      isNew ||= changes.length > 0;
      if (changes.length > 0) yield { kind: 'changes', changes };
      if (link !== undefined) return { link, isNew };
      const next = nextLinkOf(answer, root);
      if (next === undefined) {
        throw new RequestFailure('rejected', `The source gave a delta of ${collection} without a link`);
      }
      if (!seen.add(next)) throw new RequestFailure('rejected', `The source gave the link ${next} twice`);
      url = next;
    }
  }

  function changeOf(
    collection: string,
    value: unknown,
    { at, asOf }: { readonly at: number | undefined; readonly asOf: number },
  ): ReportedChange {
    const { kind, key } = readEntry(value, collection, of.keyOf(collection));
    const common = { resource: collection, key, at };
    switch (kind) {
      case 'removed':
        return { ...common, isDeleted: true, found: { item: undefined, asOf } };
      case 'changed': {
        const item = isObject(value) ? of.itemOf?.(collection, value) : undefined;
        return { ...common, isDeleted: false, ...(item === undefined ? {} : { found: { item, asOf } }) };
      }
      case 'related':
        return { ...common, isDeleted: false };
    }
  }

  return {
    way: 'delta',
    isPushed: false,
    // A link cannot be derived from the position of another method.
    translatePosition: () => undefined,
    async currentPosition(collections, _signal, walked) {
      const links: Links = new Map();
      for (const collection of collections) {
        const known = walked[collection];
        const link =
          (await requestNewLink(collection)) ??
          (known === undefined ? undefined : await linkIfAlive(collection, known));
        if (link !== undefined) links.set(collection, link);
      }
      if (links.size === 0) throw new RequestFailure('rejected', 'The source returned no delta links');
      return { position: positionOf(links), unreported: collections.filter((each) => !links.has(each)) };
    },
    async *changesSince(position, _resources, signal, asOf): AsyncGenerator<FeedReport> {
      const links = parseLinks(position);
      if (links === undefined) {
        yield { kind: 'expired', position: undefined };
        return;
      }
      let reported = { position, at: clock.now() };
      while (!signal.aborted) {
        let isNew = Math.abs(clock.now() - reported.at) >= RENEWED;
        try {
          for (const [collection, link] of links) {
            const changes = yield* changesAt(collection, link, asOf);
            links.set(collection, changes.link);
            isNew ||= changes.isNew;
          }
        } catch (error) {
          if (!(error instanceof RequestFailure) || !DEAD.has(error.status)) throw error;
          yield { kind: 'expired', position: undefined };
          return;
        }
        if (isNew) reported = { position: positionOf(links), at: clock.now() };
        yield { kind: 'position', position: reported.position, isLevel: true };
        await clock.sleep(every(links.size), signal);
      }
      throw stopped();
    },
  };
}

/** The response; undefined if the source does not support the request. */
async function unlessUnsupported<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isUnsupported(error) || isTooLarge(error)) return undefined;
    throw error;
  }
}

/**
 * - `changed`: the record is new, or has changed.
 * - `removed`: the record was deleted, or has left the collection.
 * - `related`: a link of the record to another record was added or removed.
 */
interface DeltaEntry {
  readonly kind: 'changed' | 'removed' | 'related';
  readonly key: string;
}

/** The context of an entry, which shows its kind: `#Property/$deletedEntity`. */
const CONTEXT = /#(\w+)(?:\(.*\))?\/\$(entity|deletedEntity|link|deletedLink)$/;

/** `…/Property('L1')`, `…/Property(ListingKey='L1')` or `…/Property(1)`. */
const ID = /(?:^|\/)(\w+)\((?:\w+=)?(?:'(.*)'|(\d+))\)$/;

/**
 * Reads an entry of a delta.
 * @param collection the collection of the delta
 * @param key the key field of the collection
 * @throws RequestFailure `rejected` for an entry that does not identify a record of the collection
 */
export function readEntry(value: unknown, collection: string, key: string): DeltaEntry {
  if (!isObject(value)) throw unreadable(collection, value);
  const [, set = collection, what] = CONTEXT.exec(textOf(controlOf(value, 'context')) ?? '') ?? [];
  const isLink = what === 'link' || what === 'deletedLink';
  const inOldForm = isLink ? value.source : what === 'deletedEntity' ? value.id : undefined;
  const id = inOldForm ?? controlOf(value, 'id');
  const found = (isLink ? undefined : keyFromValue(value[key])) ?? keyIn(textOf(id) ?? '', collection);
  if (found === undefined || set !== collection) throw unreadable(collection, value);
  if (isLink) return { kind: 'related', key: found };
  const isRemoved = what === 'deletedEntity' || isObject(controlOf(value, 'removed'));
  return { kind: isRemoved ? 'removed' : 'changed', key: found };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Control information, with the prefix `odata.` that OData 4.0 requires, or without it. */
const controlOf = (value: JsonObject, name: string): unknown => value[`@odata.${name}`] ?? value[`@${name}`];

/** The key in the entity-id of a record of a collection. */
function keyIn(id: string, collection: string): string | undefined {
  const [, set, quoted, digits] = ID.exec(decodeIfPossible(id)) ?? [];
  return set === collection ? (quoted?.replaceAll("''", "'") ?? digits) : undefined;
}

function decodeIfPossible(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const unreadable = (collection: string, value: unknown): RequestFailure =>
  new RequestFailure(
    'rejected',
    `The source returned a delta entry of ${collection} that names none of its records: ${JSON.stringify(value)?.slice(0, 120)}`,
  );
