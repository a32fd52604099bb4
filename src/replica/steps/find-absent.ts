/**
 * Determines which quarantined records the source no longer has. Their keys are requested twice, because one server of the source
 * may lag behind the others and lack a record for a moment.
 */
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Quarantined } from '../../store/checkpoint/checkpoints.ts';
import type { Copy } from '../copy/copy.ts';
import { fetchChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { CHILDREN, RECORD, subjectOf } from '../copy/quarantine-entry.ts';
import { readPage } from '../copy/read-page.ts';
import { pagesFrom } from '../copy/walk.ts';
import { fetchRecordsSkippingFailing } from '../source/pages.ts';
import { collectionOf, type PageRequest, type SourcePage } from '../source/source.ts';

/** The keys that a page does not contain. */
export function absentFrom(page: SourcePage, resource: string, keys: readonly string[]): ReadonlySet<string> {
  const given = new Set(page.keys.filter((each) => each.resource === resource).map(({ key }) => key));
  return new Set(keys.filter((key) => !given.has(key)));
}

/** Why a record is quarantined whose key the source lists, and verify therefore finds. */
export const LISTED_ONLY = 'The source lists the record, but returns nothing for its key';

/**
 * The findings on quarantine entries: those whose records the source no longer has (`absent`), those whose records it lists but does
 * not return (`listed`), and those whose records cannot be requested by key.
 */
export interface AbsenceResult {
  readonly absent: readonly Quarantined[];
  readonly listed: readonly Quarantined[];
  readonly unknown: readonly Quarantined[];
  /** The records that the source still has, by name, as it returned them. */
  readonly current: ReadonlyMap<string, JsonObject>;
}

/** Requests the records of entries from the source. The records of entries in neither list of the result still exist. */
export async function findAbsent(copy: Copy, entries: readonly Quarantined[]): Promise<AbsenceResult> {
  const { dictionary } = await copy.store.model();
  const { byKey, resources } = copy.feed.capabilities;
  const unknown: Quarantined[] = [];
  let left: (RecordName & { readonly entry: Quarantined })[] = [];
  for (const entry of entries) {
    const { resource, key } = subjectOf(dictionary, entry);
    const isAsked = byKey !== 'none' && resources.includes(collectionOf(copy.feed.capabilities, resource));
    if (key !== undefined && isAsked) left.push({ entry, resource, key });
    else unknown.push(entry);
  }
  const current = new Map<string, JsonObject>();
  for (let time = 1; time <= 2; time++) {
    const given: Given = { records: new Set(), collections: new Set(), current };
    for (const [resource, group] of Map.groupBy(left, (each) => each.resource)) {
      await requestRecords(copy, resource, [...new Set(group.map(({ key }) => key))], given);
    }
    left = left.filter(({ entry, ...subject }) => {
      const record = recordName(subject);
      if (!given.records.has(record)) return true;
      // An incomplete collection proves nothing about its members.
      const isWhole =
        entry.resource !== subject.resource && given.collections.has(`${record} ${entry.resource}`);
      return isWhole && !given.records.has(recordName(entry));
    });
  }
  const listed = await listedAmong(copy, left);
  const isListed = ({ resource, key }: RecordName): boolean => listed.has(recordName({ resource, key }));
  return {
    absent: left.filter((each) => !isListed(each)).map(({ entry }) => entry),
    listed: left.filter(isListed).map(({ entry }) => entry),
    unknown,
    current,
  };
}

/**
 * The names of records that the source lists, among those that it does not return by key. A source need not agree with itself; what
 * it lists decides, as it does for a purge and for verify.
 */
async function listedAmong(
  { feed, sizeOf }: Copy,
  subjects: readonly (RecordName & { readonly entry: Quarantined })[],
): Promise<ReadonlySet<string>> {
  const listed = new Set<string>();
  if (feed.capabilities.isPlat) return listed;
  // A member that its record no longer contains is not listed by itself.
  const records = subjects.filter(({ entry, resource }) => entry.resource === resource);
  const names = new Set(records.map(recordName));
  for (const collection of new Set(
    records.map(({ resource }) => collectionOf(feed.capabilities, resource)),
  )) {
    const fetch = (request: PageRequest) => feed.keys(collection, request);
    for await (const page of pagesFrom(fetch, undefined, sizeOf(`keys of ${collection}`))) {
      for (const name of page.keys.map(recordName)) if (names.has(name)) listed.add(name);
    }
  }
  return listed;
}

/** What the source returned. */
interface Given {
  readonly records: Set<string>;
  /** The collections that were returned completely, each as the name of the record and the resource of the members. */
  readonly collections: Set<string>;
  readonly current: Map<string, JsonObject>;
}

async function requestRecords(
  copy: Copy,
  resource: string,
  keys: readonly string[],
  given: Given,
): Promise<void> {
  const { feed } = copy;
  const { key: field } = (await copy.store.model()).resource(resource);
  const note = ({ resource: { name, navigations }, key, children }: ParsedRecord): void => {
    const record = recordName({ resource: name, key });
    given.records.add(record);
    for (const [navigation, members] of children) {
      given.collections.add(`${record} ${navigations.get(navigation)?.target}`);
      members.forEach(note);
    }
  };
  const apart = reasonsToFetchSeparately(feed.capabilities, resource).filter((why) => why !== RECORD);
  const collections = apart.includes(CHILDREN) ? feed.capabilities.expansions : apart;
  for (const some of chunked(keys, feed.someAtOnce)) {
    const pages = [
      await fetchRecordsSkippingFailing(
        feed,
        resource,
        some,
        copy.checkpoint.knownKeys(collectionOf(feed.capabilities, resource)),
      ),
    ];
    if (apart.length > 0) pages.push(await fetchChildren(feed, some, collections));
    for (const { json, onlyChildren } of pages.flatMap(({ items }) => items)) {
      const key = json[field];
      if (typeof key === 'string' && onlyChildren !== true)
        given.current.set(recordName({ resource, key }), json);
    }
    for (const page of pages) {
      for (const each of page.keys) given.records.add(recordName(each));
      const { intake } = await readPage(copy, page);
      for (const group of intake.records) group.records.forEach(note);
      for (const entry of intake.quarantine) given.records.add(recordName(entry));
    }
  }
}
