/** Writes records that are parts of others (media, rooms, …) as such: each names its parent, which may not be stored yet. */
import { changeTimestampOf, type FieldValue } from '../../dictionary/index.ts';
import { contentHash } from '../../records/content-hash.ts';
import { isMediaOfListing, systemFieldsOfMedia } from '../../records/media.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { fillMissing, setFromParent } from '../../records/record-parent.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { Owner } from '../../records/settings.ts';
import { adoptOrphans } from './adopt.ts';
import { nonEmpty, ownershipConflict } from './ownership.ts';
import type { PreparedRecord } from './prepare.ts';
import { emptyTally, type WriteReport } from './report.ts';
import { mergeTouchedParents, restampParents, type TouchedParent, touchedBy } from './restamp-parents.ts';
import {
  type MutableRow,
  putWithTimestamps,
  type RowWithoutTimestamps,
  type WriteTransaction,
} from './transaction.ts';

/**
 * Stores records of a resource that is part of another (media, rooms, …), given separately. Their parents get new timestamps (I3).
 * A child whose parent is not stored is kept and counted.
 * @param batch contains each key at most once
 */
export async function writeChildren(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
): Promise<WriteReport> {
  const tally = emptyTally(transaction.timestamps.moment);
  const { owner } = transaction.model.settings;
  const found = await transaction.find(
    resource,
    batch.map(({ record }) => record.key),
  );
  const children = batch.map((child) => ({ child, parent: namedParent(child) ?? { resource: '', key: '' } }));
  const parents = await findParents(
    transaction,
    children.map(({ parent }) => parent),
  );
  const changed: RowWithoutTimestamps[] = [];
  const touched: TouchedParent[] = [];
  for (const { child, parent } of children) {
    const { key, values } = child.record;
    const stored = found.get(key);
    const holder = parents.get(recordName(parent));
    if (holder === undefined) tally.orphans++;
    if (
      stored !== undefined &&
      stored.hash === hashUnderSystem(child, holder?.system, owner) &&
      isUnder(stored, parent)
    ) {
      tally.unchanged++;
      continue;
    }
    const given = holder === undefined ? values.OriginatingSystemID : holder.system;
    const placed = placeChild(transaction, child, parent, holder?.system, stored, given);
    if ('reason' in placed) {
      tally.rejected.push({ resource, key, ...placed });
      continue;
    }
    changed.push({ row: placed, before: stored?.values, after: values });
    touched.push({ ...parent, changes: new Set([changeTimestampOf(resource, child.kind)]) });
    if (stored !== undefined) touched.push(...touchedBy(resource, stored));
    if (stored === undefined) tally.inserted++;
    else tally.changed++;
  }
  const put = await putWithTimestamps(transaction, resource, changed);
  await adoptOrphans(transaction, resource, put, tally);
  await restampParents(transaction, mergeTouchedParents(touched), tally, parents);
  tally.stamp = transaction.timestamps.newest;
  return tally;
}

const isUnder = (row: StoredRow, parent: RecordName): boolean =>
  row.parent === parent.key && row.parentResource === parent.resource;

async function findParents(
  transaction: WriteTransaction,
  names: readonly RecordName[],
): Promise<Map<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  for (const [resource, group] of Map.groupBy(names, (parent) => parent.resource)) {
    if (!transaction.model.dictionary.resources.has(resource)) continue;
    const keys = [...new Set(group.map(({ key }) => key))];
    for (const [key, row] of await transaction.find(resource, keys))
      found.set(recordName({ resource, key }), row);
  }
  return found;
}

/** The parent that a record's own fields name; undefined for resources without a parent. */
function namedParent({ record }: PreparedRecord): RecordName | undefined {
  const { resource, values } = record;
  const { parent } = resource;
  if (parent === undefined) return undefined;
  const key = nonEmpty(values[parent.keyField]) ?? '';
  if (parent.kind === 'fixed') return { resource: parent.resource, key };
  return { resource: nonEmpty(values[parent.resourceField]) ?? 'Property', key };
}

/** The hash of a child under a parent in an originating system. A different system that its source names is content (I6). */
export function hashUnderSystem(
  { record: { resource, values }, hash }: PreparedRecord,
  system: string | null | undefined,
  owner: Owner,
): string {
  const given = values.OriginatingSystemResourceRecordSystemID;
  const isForeign = given !== undefined && system !== undefined && given !== system;
  return owner === 'replica' && isForeign ? contentHash(resource, values, owner, system) : hash;
}

/**
 * A child ready to be stored under its parent, or the reason why it cannot be. An authority rejects a child that names another
 * system; a replica keeps what its source sent.
 * @param system the system of the parent and therefore of the child; undefined while the parent is not stored
 * @param given the system that the stored record must have
 */
export function placeChild(
  transaction: WriteTransaction,
  child: PreparedRecord,
  parent: RecordName,
  system: string | null | undefined,
  stored: StoredRow | undefined,
  given: FieldValue | undefined,
): MutableRow | { readonly reason: string } {
  const conflict = ownershipConflict(transaction, stored, given);
  if (conflict !== undefined) return { reason: conflict };
  const { owner } = transaction.model.settings;
  const { resource, key } = child.record;
  const values: Record<string, FieldValue> = { ...child.record.values };
  const own = nonEmpty(values.OriginatingSystemID);
  if (isMediaOfListing(resource, values)) {
    const ofListing = systemFieldsOfMedia(undefined, system ?? undefined);
    if (owner === 'replica') fillMissing(values, ofListing);
    else {
      const [reason] = setFromParent(values, ofListing, '');
      if (reason !== undefined) return { reason };
    }
  }
  return {
    ...{ key, stored, parent: parent.key, parentResource: parent.resource },
    ...{ kind: child.kind, hash: hashUnderSystem(child, system, owner), values },
    system: system === undefined ? (own ?? null) : system,
  };
}
