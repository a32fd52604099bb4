import { findNavigation, SOURCE_STAMP } from '../../dictionary/index.ts';
import type { QuarantineEntry } from '../../store/ledger.ts';
import type { ParsedRecord } from '../../store/record/parsed-record.ts';
import { collectionOf, resourcesIn } from '../copy/collections.ts';
import type { Copy } from '../copy/copy.ts';
import { type Intake, readPage } from '../copy/intake.ts';
import { pagesFrom } from '../copy/walk.ts';
import { RECORD } from '../copy/wanted.ts';
import { RequestFailure } from '../http/failure.ts';
import { ACCOUNTS, type Place, type SourceItem, type SourcePage } from '../source/source.ts';
import { wantedApart } from '../steps/children.ts';
import { type Compared, compareRecords, type Replica } from './compare.ts';
import { completeUpTo, whyIncomplete } from './complete.ts';
import {
  type ComparedRange,
  canCompareRanges,
  compareRanges,
  type Digesting,
  isDigesting,
} from './ranges.ts';

/** A record that is not the same on both sides. */
export interface Difference {
  readonly resource: string;
  readonly key: string;
  /**
   * `damaged`: what the copy itself holds of it does not agree: columns, texts, visibility, counts, indexes.
   * `quarantined`: it came, and could not be stored.
   */
  readonly kind: 'missing' | 'not-at-source' | 'content' | 'damaged' | 'quarantined';
  /** What differs, or why it could not be stored. */
  readonly fields: readonly string[];
}

/** What the comparison of a resource came to. */
export interface Verified {
  readonly resource: string;
  readonly atSource: number;
  readonly stored: number;
  /** Records whose content was compared. */
  readonly compared: number;
  /** Changed at the source after the cursor; the next update brings them. */
  readonly pending: number;
  readonly differences: readonly Difference[];
  /** Why the copy is not complete; absent when it is. One that is not complete equals nothing, whatever it holds. */
  readonly incomplete?: string;
}

/** Whether a comparison proves the copy equal. What is pending is no difference; an incomplete copy is. */
export const isEqual = (results: readonly Verified[]): boolean =>
  results.every(({ differences, incomplete }) => differences.length === 0 && incomplete === undefined);

export interface VerifyOptions {
  /** How many records of each resource have their content compared; absent: all. */
  readonly sample?: number;
  readonly onProgress?: (resource: string, done: number, total: number | undefined) => void;
}

/** Results with what is in the quarantine, which the source gives and the copy does not. */
export function withQuarantine(
  results: readonly Verified[],
  entries: readonly QuarantineEntry[],
): readonly Verified[] {
  const nameOf = ({ resource, key }: { readonly resource: string; readonly key: string }): string =>
    JSON.stringify([resource, key]);
  const names = new Set(entries.map(nameOf));
  const others = results.map((each) => ({
    ...each,
    differences: each.differences.filter((one) => one.kind !== 'quarantined' || !names.has(nameOf(one))),
  }));
  const quarantined = entries.map(
    ({ resource, key, reason }): Difference => ({ resource, key, kind: 'quarantined', fields: [reason] }),
  );
  return withDifferences(others, quarantined);
}

interface Tally {
  readonly keys: Map<string, Set<string>>;
  /** Members of collections, by resource: at the source, and here. */
  readonly members: Map<string, { atSource: number; stored: number }>;
  readonly compared: Map<string, number>;
  readonly pending: Map<string, number>;
  readonly differences: Difference[];
}

/**
 * Compares a collection of the source with its copy: which keys both have, and what the records say. A difference is
 * read a second time before it counts, since both sides go on living meanwhile.
 */
export async function verifyCollection(
  copy: Copy,
  collection: string,
  { sample, onProgress }: VerifyOptions,
): Promise<readonly Verified[]> {
  const { feed, name, sizeOf, store } = copy;
  const tally: Tally = {
    keys: new Map(),
    members: new Map(),
    compared: new Map(),
    pending: new Map(),
    differences: [],
  };
  const fetch = async (place: Place): Promise<SourcePage> => {
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
  if (collection === ACCOUNTS || !isDigesting(feed) || !(await canCompareRanges(copy))) return undefined;
  const resource = (await store.model()).resource(collection);
  let equal = 0;
  let done = 0;
  let last = '';
  try {
    for await (const range of compareRanges(copy, feed, collection)) {
      if (range.isEqual) {
        equal += range.rows;
        for (const [name, number] of Object.entries(range.members)) {
          const target = findNavigation(resource, name)?.target;
          if (target !== undefined) addMembers(tally, target, number, number);
        }
      } else await readRange(copy, feed, collection, range, tally);
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
  feed: Digesting,
  collection: string,
  { after, last, rows }: ComparedRange,
  tally: Tally,
): Promise<void> {
  const every = tally.keys.get(collection) ?? new Set();
  tally.keys.set(collection, every);
  const given = new Set<string>();
  const isWithin = (key: string): boolean => compareKeys(key, last) <= 0;
  for (let key = after; key === after || compareKeys(key, last) < 0; ) {
    const page = await feed.after(collection, key, rows);
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
    if (end === undefined || page.keys.length < rows) break;
    key = end;
  }
  for (const key of given) every.add(key);
  await findExtra(copy, collection, given, tally, { after, last });
}

/** The order of keys: by bytes of UTF-8 (I1). */
const compareKeys = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Results with further differences, each at its resource, which may be one that has no result yet. */
export function withDifferences(
  results: readonly Verified[],
  differences: readonly Difference[],
): readonly Verified[] {
  const names = new Set([...results, ...differences].map(({ resource }) => resource));
  return [...names].map((resource) => {
    const nothing: Verified = { resource, atSource: 0, stored: 0, compared: 0, pending: 0, differences: [] };
    const own = results.filter((each) => each.resource === resource);
    const sum = (one: Verified, other: Verified): Verified => ({
      ...one,
      ...other,
      atSource: one.atSource + other.atSource,
      stored: one.stored + other.stored,
      compared: one.compared + other.compared,
      pending: one.pending + other.pending,
      differences: [...one.differences, ...other.differences],
    });
    const all = own.reduce(sum, nothing);
    const more = differences.filter((each) => each.resource === resource);
    return { ...all, differences: [...all.differences, ...more] };
  });
}

/** Every record of a page, with what comes apart from it. */
async function comparePage(copy: Copy, collection: string, page: SourcePage, tally: Tally): Promise<void> {
  const { feed } = copy;
  const items = [...page.items];
  const broken = [...page.broken];
  const apart = wantedApart(copy.feed.capabilities, collection);
  if (apart.length > 0) {
    for (let at = 0; at < page.keys.length; at += feed.someAtOnce) {
      const keys = page.keys.slice(at, at + feed.someAtOnce).map(({ key }) => key);
      const rest = apart.includes(RECORD)
        ? await feed.some(collection, keys)
        : await feed.children(keys, feed.capabilities.expansions);
      items.push(...rest.items);
      broken.push(...rest.broken);
    }
  }
  await compareItems(copy, items, broken, tally);
}

async function compareItems(
  copy: Copy,
  items: readonly SourceItem[],
  broken: SourcePage['broken'],
  tally: Tally,
): Promise<void> {
  const suspects = new Map<string, Map<string, Suspect>>();
  // A listing and its collections may be two items of one key: they are read apart.
  const apart = items.filter(({ onlyChildren }) => onlyChildren);
  const { intake } = await readPage(copy, {
    items: items.filter(({ onlyChildren }) => !onlyChildren),
    broken,
  });
  const parts = (await readPage(copy, { items: apart, broken: [] })).intake;
  for (const { resource, key, reason } of [...intake.quarantine, ...parts.quarantine]) {
    tally.differences.push({ resource, key, kind: 'quarantined', fields: [reason] });
  }
  const records = [...recordsOf(intake), ...recordsOf(parts)];
  for (const { record, fields, members } of await faultsOf(copy, records)) {
    const { resource, key } = record;
    if (!record.onlyChildren) {
      tally.compared.set(resource.name, (tally.compared.get(resource.name) ?? 0) + 1);
    }
    countMembers(tally, record, members);
    if (fields?.length === 0) continue;
    const found = suspects.get(resource.name) ?? new Map<string, Suspect>();
    suspects.set(resource.name, found);
    const isOfChildren = record.onlyChildren === true || found.get(key)?.isOfChildren === true;
    found.set(key, { fields, isOfChildren, isPending: isPending(copy, record) });
  }
  for (const [resource, found] of suspects) await lookAgain(copy, resource, found, tally);
}

const recordsOf = ({ records }: Intake): ParsedRecord[] => records.flatMap((group) => [...group.records]);

function countMembers(tally: Tally, { resource, children }: ParsedRecord, stored: Compared['members']): void {
  for (const [name, given] of children) {
    const target = resource.navigations.get(name)?.target;
    if (target !== undefined) addMembers(tally, target, given.length, 0);
  }
  for (const [target, number] of stored) addMembers(tally, target, 0, number);
}

function addMembers({ members }: Tally, resource: string, atSource: number, stored: number): void {
  const count = members.get(resource) ?? { atSource: 0, stored: 0 };
  members.set(resource, { atSource: count.atSource + atSource, stored: count.stored + stored });
}

const replicaOf = ({ name, store, environment }: Copy): Replica => ({
  name,
  store,
  now: () => environment.clock.now(),
});

/** What differs in records; for a record that only brings collections, what differs in them. */
async function faultsOf(copy: Copy, records: readonly ParsedRecord[]): Promise<Compared[]> {
  return (await compareRecords(replicaOf(copy), records)).map((compared) => {
    const { record, fields } = compared;
    if (record.onlyChildren !== true) return compared;
    return { ...compared, fields: fields?.filter((field) => field.includes('(')) };
  });
}

/** What looked different at the first reading. */
interface Suspect {
  /** Undefined for a record that is missing. */
  readonly fields: readonly string[] | undefined;
  /** What came apart from its listing has to be read so again. */
  readonly isOfChildren: boolean;
  readonly isPending: boolean;
}

/** Reads records a second time, and counts those that still differ, or that the source does not give once more. */
async function lookAgain(
  copy: Copy,
  resource: string,
  suspects: ReadonlyMap<string, Suspect>,
  tally: Tally,
): Promise<void> {
  const { book, feed } = copy;
  const every = [...suspects];
  for (let at = 0; at < every.length; at += feed.someAtOnce) {
    const some = every.slice(at, at + feed.someAtOnce);
    const again = await readAgain(copy, resource, some);
    for (const [key, first] of some) {
      const { fields, isPending: pending } = again.get(key) ?? first;
      if (fields?.length === 0) continue;
      if (pending) {
        tally.pending.set(resource, (tally.pending.get(resource) ?? 0) + 1);
        continue;
      }
      const isQuarantined = book.isQuarantined(resource, key);
      const kind = isQuarantined ? 'quarantined' : fields === undefined ? 'missing' : 'content';
      tally.differences.push({ resource, key, kind, fields: fields ?? [] });
    }
  }
}

/** What is found at a second reading; nothing for records that the source does not give any more, or not by their key. */
async function readAgain(
  copy: Copy,
  resource: string,
  suspects: readonly (readonly [string, Suspect])[],
): Promise<Map<string, Omit<Suspect, 'isOfChildren'>>> {
  const { feed } = copy;
  const found = new Map<string, Omit<Suspect, 'isOfChildren'>>();
  const whole = await feed.some(
    resource,
    suspects.map(([key]) => key),
  );
  const parts = suspects.filter(([, { isOfChildren }]) => isOfChildren).map(([key]) => key);
  const children =
    parts.length === 0 ? { items: [], broken: [] } : await feed.children(parts, feed.capabilities.expansions);
  for (const page of [whole, children]) {
    const records = recordsOf((await readPage(copy, page)).intake);
    const own = records.filter((record) => record.resource.name === resource);
    for (const { record, fields } of await faultsOf(copy, own)) {
      const before = found.get(record.key);
      found.set(record.key, {
        fields: fields === undefined ? undefined : [...new Set([...(before?.fields ?? []), ...fields])],
        isPending: (before?.isPending ?? false) || isPending(copy, record),
      });
    }
  }
  // Sub-data that did not come again was not compared again.
  const given = new Set(children.items.map(({ json }) => String(json.ListingKey)));
  for (const key of parts) if (!given.has(key)) found.delete(key);
  return found;
}

/**
 * How far ahead of this clock a change may lie that is still to come: further, a clock is wrong, and the change would be
 * waited for until then. The source's own clock is not asked: where it stamped so, it says the same.
 */
const PENDING_LIMIT = 3_600_000;

/** Whether the source changed a record after what the copy is complete up to, so that the next update brings it. */
function isPending(copy: Copy, { resource, values }: ParsedRecord): boolean {
  const { environment, feed, settings } = copy;
  const cursor = completeUpTo(copy, collectionOf(feed.capabilities, resource.name));
  if (cursor === undefined) return true;
  return [
    feed.windowField(resource.name),
    'ModificationTimestamp',
    SOURCE_STAMP,
    ...settings.alsoWindow,
  ].some((name) => {
    const stamp = values[name];
    const moment = typeof stamp === 'string' ? Date.parse(stamp) : Number.NaN;
    return moment >= Date.parse(cursor) && moment <= environment.clock.now() + PENDING_LIMIT;
  });
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
    const page = await feed.some(resource, chosen.slice(at, at + feed.someAtOnce));
    await compareItems(copy, page.items, page.broken, tally);
  }
}

/** Stored keys of a range that the walk did not give, and that the source does not give when it is asked for them either. */
async function findExtra(
  copy: Copy,
  resource: string,
  keys: ReadonlySet<string>,
  tally: Tally,
  range: { readonly after: string; readonly last?: string },
): Promise<void> {
  const { feed, name, store } = copy;
  for (let { after } = range; ; ) {
    const found = await store.ledger.storedKeys(name, resource, after, feed.someAtOnce);
    const end = found.at(-1);
    if (end === undefined) return;
    after = end;
    const { last } = range;
    const stored = last === undefined ? found : found.filter((key) => compareKeys(key, last) <= 0);
    if (stored.length === 0) return;
    const extra = stored.filter((key) => !keys.has(key));
    if (extra.length === 0) continue;
    const given = (await feed.some(resource, extra)).keys.filter((each) => each.resource === resource);
    const there = new Set(given.map(({ key }) => key));
    const gone = extra.filter((key) => !there.has(key));
    const still = await store.ledger.missing(name, resource, gone);
    for (const key of gone) {
      if (!still.includes(key)) tally.differences.push({ resource, key, kind: 'not-at-source', fields: [] });
    }
  }
}
