/** Compares records one by one; what differs is read twice, since both sides change. The caller chooses the records. */
import { type Resource, SOURCE_TIMESTAMP } from '../../dictionary/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Copy } from '../copy/copy.ts';
import { fetchChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { RECORD } from '../copy/quarantine-entry.ts';
import { type Intake, readPage } from '../copy/read-page.ts';
import { fieldName, notIgnored, unknownFields } from '../copy/schema-drift.ts';
import { fetchRecords, fetchRecordsSkippingFailing, joinPages } from '../source/pages.ts';
import { ACCOUNTS, collectionOf, type SourcePage } from '../source/source.ts';
import { type Compared, compareRecords } from './compare.ts';
import type { Tally } from './results.ts';

/** A copy, and what its verification has found so far. */
export interface Proof extends Copy {
  readonly tally: Tally;
}

/** Compares every record of a page, with the sub-resources that arrive separately. */
export async function comparePage(copy: Proof, collection: string, page: SourcePage): Promise<void> {
  const { feed } = copy;
  const items = [...page.items];
  const broken = [...page.broken];
  const apart = reasonsToFetchSeparately(copy.feed.capabilities, collection);
  if (apart.length > 0) {
    for (const some of chunked(page.keys, feed.someAtOnce)) {
      const keys = some.map(({ key }) => key);
      const rest = joinPages([
        ...(apart.includes(RECORD) ? [await fetchRecords(feed, collection, keys)] : []),
        ...(apart.some((why) => why !== RECORD) ? [await fetchChildren(feed, keys)] : []),
      ]);
      items.push(...rest.items);
      broken.push(...rest.broken);
    }
  }
  await compareItems(copy, { items, broken });
}

/** Requests records by key and compares them. @returns the keys that the source has */
export async function compareByKey(
  copy: Proof,
  resource: string,
  keys: readonly string[],
): Promise<readonly RecordName[]> {
  const { feed } = copy;
  const found: RecordName[] = [];
  for (const some of chunked(keys, feed.someAtOnce)) {
    const page = await fetchRecords(feed, resource, some);
    found.push(...page.keys);
    const isWhole = reasonsToFetchSeparately(feed.capabilities, resource).join() === RECORD;
    await (isWhole ? compareItems(copy, page) : comparePage(copy, resource, page));
  }
  return found;
}

export async function compareItems(
  copy: Proof,
  { items, broken }: Pick<SourcePage, 'items' | 'broken'>,
): Promise<void> {
  const { tally } = copy;
  const suspects = new Map<string, Map<string, Suspect>>();
  // A listing and its collections may be two items with the same key, which are compared separately.
  const apart = items.filter(({ onlyChildren }) => onlyChildren);
  const { intake } = await readPage(copy, {
    items: items.filter(({ onlyChildren }) => !onlyChildren),
    broken,
  });
  await compareWithdrawn(copy, items, intake);
  const rest = await fetchPartial(copy, intake.partial);
  const parts = (await readPage(copy, { items: [...apart, ...rest.items], broken: rest.broken })).intake;
  for (const { resource, key, reason } of [...intake.quarantine, ...parts.quarantine]) {
    tally.met.add(recordName({ resource, key }));
    tally.addDifferences({ resource, key, kind: 'quarantined', fields: [reason] });
  }
  const records = [...recordsIn(intake), ...recordsIn(parts)];
  for (const { record, fields, members } of await differencesOf(copy, records)) {
    const { resource, key } = record;
    if (!record.onlyChildren) tally.count(resource.name, { compared: 1 });
    countMembers(tally, record, members);
    recordReturned(copy, record);
    if (fields?.length === 0) continue;
    const found = suspects.getOrInsertComputed(resource.name, () => new Map());
    const isOfChildren = record.onlyChildren === true || found.get(key)?.isOfChildren === true;
    found.set(key, { fields, isOfChildren, isPending: isPending(copy, record) });
  }
  for (const [resource, found] of suspects) await recheckSuspects(copy, resource, found);
}

/** Compares records that the source returns only to have them deleted: they must not be stored. */
async function compareWithdrawn(copy: Proof, items: SourcePage['items'], { remove }: Intake): Promise<void> {
  const { name, store, tally } = copy;
  for (const { resource: of, keys } of remove) {
    const missing = new Set(await store.checkpoints.missing(name, of, keys));
    const resource = (await store.model()).resource(of);
    for (const key of keys) {
      if (missing.has(key)) continue;
      const values = items.findLast(({ json }) => json[resource.key] === key)?.json ?? {};
      if (isPending(copy, { resource, values })) tally.count(of, { pending: 1 });
      else tally.addDifferences({ resource: of, key, kind: 'not-at-source', fields: [] });
    }
  }
}

/** Requests the collections that arrived incompletely. */
async function fetchPartial({ feed }: Copy, partial: Intake['partial']): Promise<SourcePage> {
  const pages: SourcePage[] = [];
  for (const [key, open] of Map.groupBy(partial, (each) => each.key)) {
    const collections = open.map(({ collection }) => collection);
    pages.push(await fetchChildren(feed, [key], collections));
  }
  return joinPages(pages);
}

const recordsIn = ({ records }: Intake): ParsedRecord[] => records.flatMap((group) => [...group.records]);

function countMembers(tally: Tally, { resource, children }: ParsedRecord, stored: Compared['members']): void {
  for (const [name, given] of children) {
    const target = resource.navigations.get(name)?.target;
    if (target !== undefined) tally.count(target, { atSource: given.length, compared: given.length });
  }
  for (const [target, number] of stored) tally.count(target, { stored: number });
}

/** Records which quarantined records the source returns. */
function recordReturned(copy: Proof, { resource, key, children }: ParsedRecord): void {
  if (copy.checkpoint.isQuarantined(resource.name, key)) {
    copy.tally.met.add(recordName({ resource: resource.name, key }));
  }
  for (const members of children.values()) for (const member of members) recordReturned(copy, member);
}

/**
 * Compares records, including fields that the copy has yet to declare. Of a record that only has collections, only these are
 * compared.
 */
async function differencesOf(copy: Copy, records: readonly ParsedRecord[]): Promise<Compared[]> {
  const ignored = new Set(copy.checkpoint.get('ignored'));
  return (await compareRecords(copy, records)).map((compared) => {
    const { record, fields } = compared;
    if (fields === undefined) return compared;
    const own = record.onlyChildren === true ? fields.filter((field) => field.includes('(')) : fields;
    const unknown = notIgnored(unknownFields(record), ignored).map((field) =>
      field.resource === record.resource.name ? field.name : fieldName(field),
    );
    return { ...compared, fields: [...new Set([...own, ...unknown])] };
  });
}

/** A record that differed in the first read. */
export interface Suspect {
  /** Undefined for a missing record. */
  readonly fields: readonly string[] | undefined;
  /** Whether the sub-resources arrived separately from their listing, and must be requested separately again. */
  readonly isOfChildren: boolean;
  readonly isPending: boolean;
}

/** Reads records a second time, and reports those that still differ, or that the source does not return again. */
export async function recheckSuspects(
  copy: Proof,
  resource: string,
  suspects: ReadonlyMap<string, Suspect>,
): Promise<void> {
  const { checkpoint, feed, tally } = copy;
  for (const some of chunked([...suspects], feed.someAtOnce)) {
    const again = await rereadSuspects(copy, resource, some);
    for (const [key, first] of some) {
      const { fields, isPending: pending } = again.get(key) ?? first;
      if (fields?.length === 0) continue;
      if (pending) {
        tally.count(resource, { pending: 1 });
        continue;
      }
      const isQuarantined = checkpoint.isQuarantined(resource, key);
      const kind = isQuarantined ? 'quarantined' : fields === undefined ? 'missing' : 'content';
      tally.addDifferences({ resource, key, kind, fields: fields ?? [] });
    }
  }
}

/**
 * Reads records a second time. The result has no entry for records that the source no longer returns, or does not return by key.
 */
async function rereadSuspects(
  copy: Copy,
  resource: string,
  suspects: readonly (readonly [string, Suspect])[],
): Promise<Map<string, Omit<Suspect, 'isOfChildren'>>> {
  const { feed } = copy;
  const found = new Map<string, Omit<Suspect, 'isOfChildren'>>();
  const every = suspects.map(([key]) => key);
  const whole = await fetchRecordsSkippingFailing(
    feed,
    resource,
    every,
    copy.checkpoint.knownKeys(collectionOf(feed.capabilities, resource)),
  );
  const parts = suspects.filter(([, { isOfChildren }]) => isOfChildren).map(([key]) => key);
  const children = parts.length === 0 ? { items: [], broken: [] } : await fetchChildren(feed, parts);
  for (const page of [whole, children]) {
    const { intake } = await readPage(copy, page);
    const withdrawn = intake.remove.flatMap(({ resource: of, keys }) => (of === resource ? keys : []));
    for (const [key, { fields }] of suspects) {
      if (fields === undefined && withdrawn.includes(key)) found.set(key, { fields: [], isPending: false });
    }
    const records = recordsIn(intake);
    const own = records.filter((record) => record.resource.name === resource);
    for (const { record, fields } of await differencesOf(copy, own)) {
      const before = found.get(record.key);
      found.set(record.key, {
        fields: fields === undefined ? undefined : [...new Set([...(before?.fields ?? []), ...fields])],
        isPending: (before?.isPending ?? false) || isPending(copy, record),
      });
    }
  }
  // Listings whose sub-resources were not returned again have not been compared again.
  const given = new Set(children.items.map(({ json }) => String(json.ListingKey)));
  for (const key of parts) if (!given.has(key)) found.delete(key);
  return found;
}

/**
 * How far the timestamp of a pending change may be ahead of this clock, in milliseconds. If it is further ahead, a clock is wrong,
 * and the change would count as pending until that time. The source's own clock is no help, because it made the timestamp.
 */
const PENDING_LIMIT = 3_600_000;

/** Whether a record changed after the moment up to which the copy is complete: the next update brings it. */
function isPending(
  copy: Copy,
  { resource, values }: { readonly resource: Resource; readonly values: Readonly<Record<string, unknown>> },
): boolean {
  const { environment, feed, settings } = copy;
  const { upTo } = completeness(copy, collectionOf(feed.capabilities, resource.name));
  if (upTo === undefined) return true;
  return [
    feed.windowField(resource.name),
    'ModificationTimestamp',
    SOURCE_TIMESTAMP,
    ...settings.alsoWindow,
  ].some((name) => {
    const timestamp = values[name];
    const moment = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
    return moment >= Date.parse(upTo) && moment <= environment.clock.now() + PENDING_LIMIT;
  });
}

/**
 * The time on the source's clock up to which a copy is complete, or why it is not complete, in which case it cannot be equal to its
 * source.
 */
type Completeness = { readonly upTo: string } | { readonly upTo?: undefined; readonly why: string };

export function completeness({ checkpoint }: Copy, collection: string): Completeness {
  if (collection === ACCOUNTS) {
    const sweep = checkpoint.sweep(ACCOUNTS);
    if (sweep.kind !== 'idle') return { why: `its sweep has not ended (${sweep.kind})` };
    return sweep.last === undefined ? { why: 'it was never swept' } : { upTo: sweep.last.begun };
  }
  const load = checkpoint.load(collection);
  if (load.kind === 'current' || load.kind === 'updating') return { upTo: load.cursor };
  const isNew = load.kind === 'new';
  return { why: isNew ? 'nothing was ever copied' : `its download has not ended (${load.kind})` };
}
