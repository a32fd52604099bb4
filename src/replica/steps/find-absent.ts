/**
 * Determines which quarantined records the source no longer has. Their keys are requested twice, because one server of the source
 * may lag behind the others and lack a record for a moment.
 */
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { chunked } from '../../shared/chunked.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Quarantined } from '../../store/checkpoint/checkpoints.ts';
import { recordName } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { fetchChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { CHILDREN, RECORD, subjectOf } from '../copy/quarantine-entry.ts';
import { readPage } from '../copy/read-page.ts';
import { fetchRecordsSkippingFailing } from '../source/pages.ts';
import { collectionOf, type SourcePage } from '../source/source.ts';

/** The keys that a page does not contain. */
export function absentFrom(page: SourcePage, resource: string, keys: readonly string[]): ReadonlySet<string> {
  const given = new Set(page.keys.filter((each) => each.resource === resource).map(({ key }) => key));
  return new Set(keys.filter((key) => !given.has(key)));
}

/**
 * The findings on quarantine entries: those whose records the source no longer has (`absent`), and those whose records cannot be
 * requested by key.
 */
export interface AbsenceResult {
  readonly absent: readonly Quarantined[];
  readonly unknown: readonly Quarantined[];
  /** The records that the source still has, by name, as it returned them. */
  readonly current: ReadonlyMap<string, JsonObject>;
}

/** Requests the records of entries from the source. The records of entries in neither list of the result still exist. */
export async function findAbsent(copy: Copy, entries: readonly Quarantined[]): Promise<AbsenceResult> {
  const { dictionary } = await copy.store.model();
  const { byKey, resources } = copy.feed.capabilities;
  const unknown: Quarantined[] = [];
  let left: { readonly entry: Quarantined; readonly resource: string; readonly key: string }[] = [];
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
  return { absent: left.map(({ entry }) => entry), unknown, current };
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
