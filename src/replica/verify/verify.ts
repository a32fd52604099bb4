/**
 * The walk over a collection of the source, beside its copy: by ranges where both ends have digests, else record by
 * record. What differs in a record is for `records.ts` to tell.
 */
import { findNavigation } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';
import { pagesFrom } from '../copy/walk.ts';
import { isTooLarge, RequestFailure } from '../http/failure.ts';
import { inHalves } from '../source/pages.ts';
import {
  ACCOUNTS,
  type PageRequest,
  resourcesIn,
  type SourcePage,
  type SourceRanges,
} from '../source/source.ts';
import { completeUpTo, whyIncomplete } from './complete.ts';
import { compareKeys, findExtra } from './keys.ts';
import { type ComparedRange, canCompareRanges, compareRanges } from './ranges.ts';
import { compareItems, comparePage, lookAgain, type Suspect } from './records.ts';
import { type Verified, withDifferences } from './results.ts';
import { addMembers, emptyTally, type Tally } from './tally.ts';

export interface VerifyOptions {
  /** How many records of each resource have their content compared; absent: all. */
  readonly sample?: number;
  readonly onProgress?: (resource: string, done: number, total: number | undefined) => void;
}

/**
 * Compares a collection of the source with its copy: which keys both have, and what the records say. A difference is
 * read a second time before it counts, since both sides go on living meanwhile.
 */
export async function verifyCollection(
  copy: Copy,
  collection: string,
  { sample, onProgress }: VerifyOptions,
  met: Set<string>,
): Promise<readonly Verified[]> {
  const { feed, name, sizeOf, store } = copy;
  const tally = emptyTally(met);
  const fetch = async (place: PageRequest): Promise<SourcePage> => {
    if (sample === undefined) return feed.page(collection, { kind: 'all' }, place);
    return { ...(await feed.keys(collection, place)), items: [], broken: [], masked: [], open: [] };
  };
  // Before the walk: what a run completes meanwhile was pending when it was compared.
  const cursor = completeUpTo(copy, collection);
  const incomplete = cursor === undefined ? { incomplete: whyIncomplete(copy, collection) } : {};
  const ranges = sample === undefined ? await verifyRanges(copy, collection, tally, onProgress) : undefined;
  let done = 0;
  for await (const page of ranges === undefined ? pagesFrom(fetch, undefined, sizeOf(collection)) : []) {
    for (const { resource, key } of page.keys) {
      tally.keys.set(resource, (tally.keys.get(resource) ?? new Set()).add(key));
    }
    if (sample === undefined) await comparePage(copy, collection, page, tally);
    done += page.keys.length;
    onProgress?.(collection, done, page.total);
  }
  const results: Verified[] = [];
  for (const resource of resourcesIn(collection)) {
    const keys = tally.keys.get(resource) ?? new Set();
    if (sample !== undefined) await compareSample(copy, resource, [...keys], sample, tally);
    if (ranges === undefined) await findExtra(copy, resource, keys, tally, { after: '' });
    results.push({
      resource,
      atSource: keys.size + (ranges?.equal ?? 0),
      stored: await store.ledger.stored(name, resource),
      compared: (tally.compared.get(resource) ?? 0) + (ranges?.equal ?? 0),
      pending: tally.pending.get(resource) ?? 0,
      differences: [],
      ...incomplete,
    });
  }
  for (const [resource, { atSource, stored }] of tally.members) {
    results.push({ resource, atSource, stored, compared: atSource, pending: 0, differences: [] });
  }
  return withDifferences(results, tally.differences);
}

/**
 * Compares a collection by digests of ranges, and reads the ranges that differ.
 * @returns how many records are in equal ranges; undefined where the collection has to be read whole
 */
async function verifyRanges(
  copy: Copy,
  collection: string,
  tally: Tally,
  onProgress: VerifyOptions['onProgress'],
): Promise<{ readonly equal: number } | undefined> {
  const { feed, store } = copy;
  const source = feed.ranges;
  if (collection === ACCOUNTS || source === undefined || !(await canCompareRanges(copy))) return undefined;
  const resource = (await store.model()).resource(collection);
  let equal = 0;
  let done = 0;
  let last = '';
  try {
    for await (const range of compareRanges(copy, source, collection)) {
      if (range.isEqual) {
        equal += range.rows;
        for (const [name, number] of Object.entries(range.members)) {
          const target = findNavigation(resource, name)?.target;
          if (target !== undefined) addMembers(tally, target, number, number);
        }
      } else await readRange(copy, source, collection, range, tally);
      last = range.last;
      done += range.rows;
      onProgress?.(collection, done, undefined);
    }
  } catch (error) {
    // An older plat has no digests.
    if (last === '' && error instanceof RequestFailure && error.kind === 'rejected') return undefined;
    throw error;
  }
  await findExtra(copy, collection, new Set(), tally, { after: last });
  return { equal };
}

/** Records of a range that is not the same on both sides, one by one. */
async function readRange(
  copy: Copy,
  source: SourceRanges,
  collection: string,
  { after, last, rows }: ComparedRange,
  tally: Tally,
): Promise<void> {
  const every = tally.keys.get(collection) ?? new Set();
  tally.keys.set(collection, every);
  const given = new Set<string>();
  let asked = rows;
  const isWithin = (key: string): boolean => compareKeys(key, last) <= 0;
  for (let key = after; key === after || compareKeys(key, last) < 0; ) {
    const { page, size } = await pageAfter(source, collection, key, asked);
    asked = size;
    const keys = page.keys.filter((each) => isWithin(each.key));
    const names = new Set(keys.map((each) => each.key));
    for (const name of names) given.add(name);
    const { key: keyField } = (await copy.store.model()).resource(collection);
    const items = page.items.filter(({ json }) => {
      const name = json[keyField];
      return typeof name !== 'string' || names.has(name);
    });
    await comparePage(copy, collection, { ...page, items, keys }, tally);
    const end = page.keys.at(-1)?.key;
    if (end === undefined || page.keys.length < size) break;
    key = end;
  }
  for (const key of given) every.add(key);
  await findExtra(copy, collection, given, tally, { after, last });
}

/** A page after a key, as large as can be read. */
async function pageAfter(
  source: SourceRanges,
  collection: string,
  key: string,
  most: number,
): Promise<{ readonly page: SourcePage; readonly size: number }> {
  for (let size = most; ; size = Math.ceil(size / 2)) {
    try {
      return { page: await source.after(collection, key, size), size };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      if (size === 1) return { page: await source.after(collection, key, size, true), size };
    }
  }
}

/** Content of a number of records that are spread evenly over the keys. */
async function compareSample(
  copy: Copy,
  resource: string,
  keys: readonly string[],
  sample: number,
  tally: Tally,
): Promise<void> {
  const { feed, name, store } = copy;
  const missing = new Set<string>();
  for (let at = 0; at < keys.length; at += 1000) {
    for (const key of await store.ledger.missing(name, resource, keys.slice(at, at + 1000))) missing.add(key);
  }
  const suspect: Suspect = { fields: undefined, isOfChildren: false, isPending: false };
  await lookAgain(copy, resource, new Map([...missing].map((key) => [key, suspect])), tally);
  const stored = keys.filter((key) => !missing.has(key));
  const step = Math.max(1, stored.length / Math.max(1, sample));
  const chosen = Array.from(
    { length: Math.min(sample, stored.length) },
    (_, at) => stored[Math.floor(at * step)] ?? '',
  );
  for (let at = 0; at < chosen.length; at += feed.someAtOnce) {
    const some = chosen.slice(at, at + feed.someAtOnce);
    const page = await inHalves(resource, some, (keys) => feed.some(resource, keys));
    await compareItems(copy, page.items, page.broken, tally);
  }
}
