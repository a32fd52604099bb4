/** Verifies that a copy equals its source, by ranges or record by record; also its damage and quarantine. */
import { findNavigation } from '../../dictionary/index.ts';
import { recordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Quarantined } from '../../store/checkpoint/checkpoints.ts';
import { storedKeys } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { pagesFrom } from '../copy/walk.ts';
import { isTooLarge, RequestFailure } from '../http/failure.ts';
import { lowerTotal } from '../machine/states.ts';
import { type QuerySourceOptions, querySource } from '../run/session.ts';
import { fetchRecords } from '../source/pages.ts';
import {
  ACCOUNTS,
  type KeyPage,
  type PageRequest,
  pagesReliably,
  resourcesIn,
  type SourcePage,
  type SourceRanges,
} from '../source/source.ts';
import { findAbsent } from '../steps/find-absent.ts';
import { findAllDamage, withRelatedResources } from './find-damage.ts';
import { type OnVerified, VerifyProgress } from './progress.ts';
import { type ComparedRange, canCompareRanges, compareRanges } from './ranges.ts';
import {
  compareByKey,
  compareItems,
  comparePage,
  completeness,
  type Proof,
  recheckSuspects,
  type Suspect,
} from './records.ts';
import { Tally, type Verified } from './results.ts';

export interface VerifyOptions {
  /** The number of records of each resource whose content is compared; absent: all. */
  readonly sample?: number;
  readonly onProgress?: OnVerified;
}

/**
 * Proves that a copy is equal to its source, or finds the differences.
 * @throws RequestFailure; PlatError `usage` if nothing was ever copied from this source
 */
export function verifyReplica(options: QuerySourceOptions & VerifyOptions): Promise<readonly Verified[]> {
  const { onProgress = () => undefined, sample } = options;
  return querySource(options, async (copy) => {
    const { name, store } = copy;
    const tally = new Tally();
    const proof: Proof = { ...copy, tally };
    const { resources } = copy.feed.capabilities;
    const own = resources.flatMap(resourcesIn);
    const parts = withRelatedResources(await store.model(), own);
    // The comparison mostly waits for the source, so the copy is checked for damage at the same time.
    const progress = new VerifyProgress(onProgress);
    for (const collection of resources) {
      let stored = 0;
      for (const resource of resourcesIn(collection))
        stored += await store.checkpoints.stored(name, resource);
      progress.expect(collection, stored);
    }
    const ofCopy = (resource: string): string => `${resource} of the copy`;
    for (const resource of parts)
      progress.expect(ofCopy(resource), (await store.countedRows([resource])) ?? 0);
    const damages = findAllDamage(store, parts, (resource, rows) => progress.report(ofCopy(resource), rows));
    try {
      for (const collection of resources) {
        await verifyCollection(proof, collection, sample, progress);
        progress.end(collection);
      }
    } catch (error) {
      await damages.stop();
      throw error;
    }
    tally.addDifferences(...(await damages.found));
    for (const resource of parts) progress.end(ofCopy(resource));
    const entries = await store.checkpoints.quarantined(name);
    tally.addQuarantine(
      entries,
      await absentEntries(copy, entries, sample === undefined ? tally.met : undefined),
    );
    // Copied resources come before the resources of their collections.
    return tally
      .results()
      .toSorted((one, other) => Number(own.includes(other.resource)) - Number(own.includes(one.resource)));
  });
}

/**
 * The quarantined records that the source no longer has. Neither side has them, so they are not a difference, and the next purge
 * releases them.
 * @param met names of the records that a complete walk met; undefined: there was no complete walk
 */
async function absentEntries(
  copy: Copy,
  entries: readonly Quarantined[],
  met: ReadonlySet<string> | undefined,
): Promise<readonly Quarantined[]> {
  const { absent, unknown } = await findAbsent(copy, entries);
  const found = [...absent];
  for (const entry of met === undefined ? [] : unknown) {
    // A complete walk would have returned a record that cannot be requested by key. Records in equal ranges are stored here.
    const isMet = met?.has(recordName(entry)) === true;
    if (isMet) continue;
    const missing = await copy.store.checkpoints.missing(copy.name, entry.resource, [entry.key]);
    if (missing.length > 0) found.push(entry);
  }
  return found;
}

/** Compares a collection with its copy, keys and content. What differs is read twice, since both sides change. */
async function verifyCollection(
  copy: Proof,
  collection: string,
  sample: number | undefined,
  progress: VerifyProgress,
): Promise<void> {
  const { feed, name, sizeOf, store, tally } = copy;
  const keys = new Map(resourcesIn(collection).map((resource) => [resource, new Set<string>()]));
  // Determined before the walk, because a concurrent run may complete records that were still pending when they were compared.
  const complete = completeness(copy, collection);
  for (const resource of keys.keys()) {
    tally.count(resource, {});
    if ('why' in complete) tally.setIncomplete(resource, complete.why);
  }
  let announced: number | undefined;
  const isByRange =
    sample === undefined && (await verifyRanges(copy, collection, keys.get(collection), progress));
  if (!isByRange) {
    const fetch = async (request: PageRequest): Promise<SourcePage> => {
      if (sample === undefined) return feed.page(collection, { kind: 'all' }, request);
      return { ...(await feed.keys(collection, request)), items: [], broken: [], masked: [], open: [] };
    };
    const known = () => copy.checkpoint.knownKeys(collection);
    let done = 0;
    for await (const page of pagesFrom(fetch, undefined, sizeOf(collection), known)) {
      for (const { resource, key } of page.keys) keys.get(resource)?.add(key);
      if (sample === undefined) await comparePage(copy, collection, page);
      done += page.keys.length;
      announced = lowerTotal(announced, page.total);
      progress.report(collection, done, page.total);
    }
    const isShort = hasFewerThanAnnounced(keys, collection, announced);
    await findMissedKeys(copy, collection, keys, { isShort, compares: sample === undefined });
  }
  for (const [resource, found] of keys) {
    if (sample !== undefined) await compareSample(copy, resource, [...found], sample);
    if (!isByRange) await findExtraKeys(copy, resource, found, { after: '', compares: sample === undefined });
    tally.count(resource, { atSource: found.size, stored: await store.checkpoints.stored(name, resource) });
  }
  if (announced !== undefined && hasFewerThanAnnounced(keys, collection, announced))
    tally.setAnnounced(collection, announced);
}

/**
 * Whether a collection has fewer keys than announced. Not every account is a person or an office, so the announced number of
 * accounts says nothing.
 */
const hasFewerThanAnnounced = (
  keys: ReadonlyMap<string, ReadonlySet<string>>,
  collection: string,
  announced: number | undefined,
): boolean =>
  collection !== ACCOUNTS && announced !== undefined && (keys.get(collection)?.size ?? 0) < announced;

/** The maximum number of further walks over the keys of a collection whose first walk may have missed some. */
const MORE_WALKS = 5;

/**
 * Walks over the keys again until a walk returns no new key, if the first walk may be incomplete, because it was by offset, which
 * misses rows when others are deleted, or because it was short.
 * @param keys receives the keys
 * @param compares whether missed records are compared here
 */
async function findMissedKeys(
  copy: Proof,
  collection: string,
  keys: ReadonlyMap<string, Set<string>>,
  { isShort, compares }: { readonly isShort: boolean; readonly compares: boolean },
): Promise<void> {
  const { feed, sizeOf } = copy;
  const fetch = (request: PageRequest): Promise<KeyPage> => feed.keys(collection, request);
  let isNew = isShort || !pagesReliably(feed.capabilities, collection);
  for (let walks = 0; isNew && walks < MORE_WALKS; walks++) {
    isNew = false;
    for await (const page of pagesFrom(fetch, undefined, sizeOf(collection))) {
      for (const [resource, group] of Map.groupBy(page.keys, (each) => each.resource)) {
        const known = keys.get(resource) ?? new Set();
        const fresh = group.map(({ key }) => key).filter((key) => !known.has(key));
        for (const key of fresh) known.add(key);
        isNew ||= fresh.length > 0;
        if (compares) await compareByKey(copy, resource, fresh);
      }
    }
  }
}

/** The order of keys: by bytes of UTF-8 (I1). */
const compareKeys = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/**
 * The stored keys of a range that the walk did not return and that the source does not return by key either. Records that it does
 * return by key are compared.
 * @param keys receives the keys of these records
 */
async function findExtraKeys(
  copy: Proof,
  resource: string,
  keys: Set<string>,
  {
    after,
    last,
    compares = true,
  }: { readonly after: string; readonly last?: string; readonly compares?: boolean },
): Promise<void> {
  const { feed, name, store } = copy;
  for await (const found of storedKeys(copy, resource, { after, size: feed.someAtOnce })) {
    const stored = last === undefined ? found : found.filter((key) => compareKeys(key, last) <= 0);
    if (stored.length === 0) return;
    const extra = stored.filter((key) => !keys.has(key));
    if (extra.length === 0) continue;
    const there = compares
      ? await compareByKey(copy, resource, extra)
      : (await fetchRecords(feed, resource, extra)).keys;
    for (const each of there) if (each.resource === resource) keys.add(each.key);
    const absent = extra.filter((key) => !keys.has(key));
    const missing = await store.checkpoints.missing(name, resource, absent);
    for (const key of absent) {
      if (!missing.includes(key))
        copy.tally.addDifferences({ resource, key, kind: 'not-at-source', fields: [] });
    }
  }
}

/**
 * Compares a collection by digests of ranges, and reads the ranges that differ.
 * @param keys receives the keys of the ranges that are read; records of equal ranges are only counted
 * @returns false if the complete collection has to be read
 */
async function verifyRanges(
  copy: Proof,
  collection: string,
  keys: Set<string> | undefined,
  progress: VerifyProgress,
): Promise<boolean> {
  const { feed, tally } = copy;
  const { ranges } = feed;
  if (keys === undefined || collection === ACCOUNTS || ranges === undefined) return false;
  if (!(await canCompareRanges(copy))) return false;
  const resource = (await copy.store.model()).resource(collection);
  let done = 0;
  let last = '';
  try {
    for await (const range of compareRanges(copy, ranges, collection)) {
      if (range.isEqual) {
        tally.count(collection, { atSource: range.rows, compared: range.rows });
        for (const [name, rows] of Object.entries(range.members)) {
          const target = findNavigation(resource, name)?.target;
          if (target !== undefined) tally.count(target, { atSource: rows, stored: rows, compared: rows });
        }
      } else await readRange(copy, ranges, collection, range, keys);
      last = range.last;
      done += range.rows;
      progress.report(collection, done);
    }
  } catch (error) {
    // An older plat has no digests.
    if (last === '' && error instanceof RequestFailure && error.kind === 'rejected') return false;
    throw error;
  }
  await findExtraKeys(copy, collection, keys, { after: last });
  return true;
}

/** Compares the records of a range that differs one by one. */
async function readRange(
  copy: Proof,
  ranges: SourceRanges,
  collection: string,
  { after, last, rows }: ComparedRange,
  every: Set<string>,
): Promise<void> {
  const given = new Set<string>();
  const { key: keyField } = (await copy.store.model()).resource(collection);
  let asked = rows;
  for (let key = after; key === after || compareKeys(key, last) < 0; ) {
    const { page, size } = await pageAfter(ranges, collection, key, asked);
    asked = size;
    const keys = page.keys.filter((each) => compareKeys(each.key, last) <= 0);
    const names = new Set(keys.map((each) => each.key));
    for (const name of names) given.add(name);
    const items = page.items.filter(({ json }) => {
      const name = json[keyField];
      return typeof name !== 'string' || names.has(name);
    });
    await comparePage(copy, collection, { ...page, items, keys });
    const end = page.keys.at(-1)?.key;
    if (end === undefined || page.keys.length < size) break;
    key = end;
  }
  await findExtraKeys(copy, collection, given, { after, last });
  for (const key of given) every.add(key);
}

/** Reads the page after a key, as large as possible. */
async function pageAfter(
  ranges: SourceRanges,
  collection: string,
  key: string,
  most: number,
): Promise<{ readonly page: SourcePage; readonly size: number }> {
  for (let size = most; ; size = Math.ceil(size / 2)) {
    try {
      return { page: await ranges.recordsAfter(collection, key, size), size };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      if (size === 1) return { page: await ranges.recordsAfter(collection, key, size, true), size };
    }
  }
}

/** The number of keys that are looked up together. */
const AT_ONCE = 1000;

/** Compares the content of a number of records that are spread evenly over the keys. */
async function compareSample(
  copy: Proof,
  resource: string,
  keys: readonly string[],
  sample: number,
): Promise<void> {
  const { feed, name, store } = copy;
  const missing = new Set<string>();
  for (const some of chunked(keys, AT_ONCE)) {
    for (const key of await store.checkpoints.missing(name, resource, some)) missing.add(key);
  }
  const suspect: Suspect = { fields: undefined, isOfChildren: false, isPending: false };
  await recheckSuspects(copy, resource, new Map([...missing].map((key) => [key, suspect])));
  const stored = keys.filter((key) => !missing.has(key));
  const count = Math.min(sample, stored.length);
  const step = Math.max(1, stored.length / Math.max(1, sample));
  const chosen = Array.from({ length: count }, (_, at) => stored[Math.floor(at * step)] ?? '');
  for (const some of chunked(chosen, feed.someAtOnce)) {
    await compareItems(copy, await fetchRecords(feed, resource, some));
  }
}
