/** To which record a child belongs, and to which source and originating system a key. */
import type { FieldValue } from '../../dictionary/index.ts';
import { jsonOf } from '../../records/nesting.ts';
import { type ParsedRecord, readValue } from '../../records/parsed-record.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { withOtherParent } from '../../records/record-parent.ts';
import type { StoredRow } from '../../records/rows.ts';
import { sourceTimestampField } from '../../records/settings.ts';
import type { PreparedRecord } from './prepare.ts';
import type { TakenChild } from './report.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * Why a stored record may not be replaced by this one: in an authority, a key belongs to one originating system; in a
 * replica, to one source, whose records may move between systems.
 * @param given the originating system of the record
 */
export function ownershipConflict(
  { source, model }: Pick<WriteTransaction, 'source' | 'model'>,
  stored: StoredRow | undefined,
  given: FieldValue | undefined,
): string | undefined {
  if (stored !== undefined && stored.source !== source) {
    return `The key belongs to ${stored.source === null ? 'this store' : `the source ${stored.source}`}`;
  }
  return systemConflict({ model }, stored?.system, given);
}

/** @param owner the originating system that a key belongs to, in the store or by an earlier record of the same write */
export function systemConflict(
  { model }: Pick<WriteTransaction, 'model'>,
  owner: string | null | undefined,
  given: FieldValue | undefined,
): string | undefined {
  const system = nonEmpty(given);
  if (model.settings.owner === 'replica' || owner == null || system === undefined) return undefined;
  if (system === owner) return undefined;
  return `The key belongs to the originating system ${owner}; this record is of ${system}`;
}

export const nonEmpty = (value: FieldValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export interface Claims {
  /** Whether a record that contains a child of another one is rejected. */
  readonly rejectsTaken: boolean;
  /** Whether the record `own`, which is being written, keeps a child that `other` also contains. */
  keeps(own: RecordName, other: RecordName): boolean;
  /** Whether a record that is part of the write no longer contains the child. */
  hasLeft(parent: RecordName, key: string): boolean;
}

/**
 * Decides which record keeps a child that several records contain, since a child has one parent: in an authority the record that
 * was written last, or the first one if the others are rejected; in a replica the record that its source changed last, so that a
 * copy does not depend on the order in which records are read.
 * @param rivals the stored children of other records that holders contain, and whether two of the holders contain the same
 */
export async function claimsOf(
  transaction: WriteTransaction,
  holders: readonly PreparedRecord[],
  navigation: string,
  rivals: {
    readonly stored: Iterable<StoredRow>;
    readonly areShared: boolean;
    readonly rejectsTaken: boolean;
  },
): Promise<Claims> {
  const { settings } = transaction.model;
  const own = new Map(holders.map((holder) => [recordName(nameOf(holder.record)), holder]));
  const others = [...rivals.stored].flatMap((row) => parentOfRow(row) ?? []);
  const hasLeft: Claims['hasLeft'] = (parent, key) =>
    own
      .get(recordName(parent))
      ?.children.get(navigation)
      ?.every(({ record }) => record.key !== key) === true;
  const { rejectsTaken } = rivals;
  if (settings.owner === 'authority' || (others.length === 0 && !rivals.areShared))
    return { rejectsTaken, keeps: () => !rejectsTaken, hasLeft };
  const field = sourceTimestampField(settings);
  const moments = new Map<string, string>();
  const unknown: RecordName[] = [];
  for (const [id, { record }] of own) {
    const moment = record.onlyChildren ? undefined : readValue(record, field);
    if (typeof moment === 'string') moments.set(id, moment);
    else unknown.push(nameOf(record));
  }
  const absent = [...others.filter((other) => !own.has(recordName(other))), ...unknown];
  for (const [resource, group] of Map.groupBy(absent, (each) => each.resource)) {
    const rows = await transaction.find(resource, [...new Set(group.map(({ key }) => key))]);
    for (const [key, content] of await transaction.load(resource, [...rows.values()])) {
      const { [field]: moment } = content;
      if (typeof moment === 'string') moments.set(recordName({ resource, key }), moment);
    }
  }
  // Canonical timestamps without their Z sort by time. If two are equal, the order of keys decides.
  const rank = (parent: RecordName): string =>
    `${moments.get(recordName(parent))?.slice(0, -1) ?? ''}\u0000${recordName(parent)}`;
  return { rejectsTaken, keeps: (one, other) => rank(one) > rank(other), hasLeft };
}

const nameOf = ({ resource, key }: ParsedRecord): RecordName => ({ resource: resource.name, key });

/** The record that a child belongs to. */
export const parentOfRow = (
  row: Pick<StoredRow, 'parent' | 'parentResource'> | undefined,
): RecordName | undefined =>
  row?.parent == null || row.parentResource === null
    ? undefined
    : { resource: row.parentResource, key: row.parent };

/** The report of a child that two records contain. */
export function takenChild(
  { resource, key, origin }: ParsedRecord,
  names: Pick<TakenChild, 'from' | 'by' | 'taker' | 'wasStored'>,
): TakenChild {
  const { from, by } = names;
  return {
    resource: resource.name,
    key,
    ...names,
    reason: `The source has it under ${from.resource} ${from.key} and under ${by.resource} ${by.key}; it is stored under the latter`,
    payload: jsonOf(withOtherParent(resource, origin, from)),
  };
}
