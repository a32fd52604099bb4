/**
 * Which entries of the quarantine are of records that the source has no more. It is asked by key, twice, since a server
 * that is behind the others of its source may lack one for a moment.
 */

import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { Quarantined } from '../../store/ledger.ts';
import type { Copy } from '../copy/copy.ts';
import { halved } from '../copy/halved.ts';
import { CHILDREN, RECORD, wantedApart } from '../copy/pending-fetches.ts';
import { readPage } from '../copy/read-page.ts';
import { subjectOf } from '../copy/subject.ts';
import type { SourcePage } from '../source/source.ts';
import { collectionOf } from '../source/source.ts';

/** Of these keys, those that a page does not give. */
export function absentFrom(page: SourcePage, resource: string, keys: readonly string[]): ReadonlySet<string> {
  const given = new Set(page.keys.filter((each) => each.resource === resource).map(({ key }) => key));
  return new Set(keys.filter((key) => !given.has(key)));
}

const nameOf = (resource: string, key: string): string => JSON.stringify([resource, key]);

/** What can be told of entries: the source has them no more, or its record is one that nobody can ask for by a key. */
export interface Sought {
  readonly gone: readonly Quarantined[];
  readonly unknown: readonly Quarantined[];
}

/** Asks the source for the records of entries. What is in neither list of the result it still gives. */
export async function seekGone(copy: Copy, entries: readonly Quarantined[]): Promise<Sought> {
  const { dictionary } = await copy.store.model();
  const { byKey, resources } = copy.feed.capabilities;
  const sought = entries.map((entry) => ({ entry, subject: subjectOf(dictionary, entry) }));
  const isAsked = ({ subject }: (typeof sought)[number]): boolean =>
    subject.key !== undefined &&
    byKey !== 'none' &&
    resources.includes(collectionOf(copy.feed.capabilities, subject.resource));
  const unknown = sought.flatMap((each) => (isAsked(each) ? [] : [each.entry]));
  let left = sought.filter(isAsked);
  for (let time = 1; time <= 2; time++) {
    const given = newGiven();
    for (const [resource, group] of Map.groupBy(left, ({ subject }) => subject.resource)) {
      const keys = [...new Set(group.map(({ subject }) => subject.key ?? ''))];
      await ask(copy, resource, keys, given);
    }
    left = left.filter(({ entry, subject: { resource, key = '' } }) => {
      const record = nameOf(resource, key);
      if (!given.records.has(record)) return true;
      // Of a collection that did not come whole nothing follows.
      const isWhole = entry.resource !== resource && given.collections.has(`${record} ${entry.resource}`);
      return isWhole && !given.records.has(nameOf(entry.resource, entry.key));
    });
  }
  return { gone: left.map(({ entry }) => entry), unknown };
}

/** What the source gave, by name. */
interface Given {
  readonly records: Set<string>;
  /** Collections that came whole: the record, and the resource of the members. */
  readonly collections: Set<string>;
}

const newGiven = (): Given => ({ records: new Set(), collections: new Set() });

async function ask(copy: Copy, resource: string, keys: readonly string[], given: Given): Promise<void> {
  const { feed } = copy;
  const note = ({ resource: { name, navigations }, key, children }: ParsedRecord): void => {
    given.records.add(nameOf(name, key));
    for (const [navigation, members] of children) {
      const target = navigations.get(navigation)?.target;
      given.collections.add(`${nameOf(name, key)} ${target}`);
      members.forEach(note);
    }
  };
  const apart = wantedApart(feed.capabilities, resource).filter((why) => why !== RECORD);
  const collections = apart.includes(CHILDREN) ? feed.capabilities.expansions : apart;
  for (let at = 0; at < keys.length; at += feed.someAtOnce) {
    const some = keys.slice(at, at + feed.someAtOnce);
    const pages = [await halved(resource, some, RECORD, (few) => feed.some(resource, few))];
    if (apart.length > 0) {
      pages.push(await halved(resource, some, CHILDREN, (few) => feed.children(few, collections)));
    }
    for (const page of pages) {
      for (const each of page.keys) given.records.add(nameOf(each.resource, each.key));
      const { intake } = await readPage(copy, page);
      for (const group of intake.records) group.records.forEach(note);
      for (const entry of intake.quarantine) given.records.add(nameOf(entry.resource, entry.key));
    }
  }
}
