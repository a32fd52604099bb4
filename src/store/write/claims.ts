/**
 * Decides which record keeps a child that several records contain, since a child has one parent: in an authority the record that
 * was written last; in a replica the record that its source changed last, so that a copy does not depend on the order in which
 * records are read.
 */
import { jsonOf } from '../../records/nesting.ts';
import { type ParsedRecord, readValue } from '../../records/parsed-record.ts';
import { withOtherParent } from '../../records/place.ts';
import type { StoredRow } from '../../records/rows.ts';
import { sourceTimestampField } from '../../records/settings.ts';
import type { ParentName } from './place-children.ts';
import type { PreparedRecord } from './prepare.ts';
import type { TakenChild } from './report.ts';
import { idOf } from './restamp.ts';
import type { WriteTransaction } from './transaction.ts';

/** A record with children, reduced to what this module needs. */
interface Holder {
  readonly prepared: PreparedRecord;
}

export interface Claims {
  /** Whether the record `own`, which is being written, keeps a child that `other` also contains. */
  keeps(own: ParentName, other: ParentName): boolean;
  /** Whether a record that is part of the write no longer contains the child. */
  hasLeft(parent: ParentName, key: string): boolean;
}

/**
 * @param rivals the stored children of other records that holders contain, and whether two of the holders contain the same child
 */
export async function claimsOf(
  transaction: WriteTransaction,
  holders: readonly Holder[],
  navigation: string,
  rivals: { readonly stored: Iterable<StoredRow>; readonly areShared: boolean },
): Promise<Claims> {
  const { settings } = transaction.model;
  const own = new Map(holders.map(({ prepared }) => [idOf(nameOf(prepared.record)), prepared]));
  const others = [...rivals.stored].flatMap((row) => parentOfRow(row) ?? []);
  const hasLeft: Claims['hasLeft'] = (parent, key) =>
    own
      .get(idOf(parent))
      ?.children.get(navigation)
      ?.every(({ record }) => record.key !== key) === true;
  if (settings.owner === 'authority' || (others.length === 0 && !rivals.areShared))
    return { keeps: () => true, hasLeft };
  const field = sourceTimestampField(settings);
  const moments = new Map<string, string>();
  const unknown: ParentName[] = [];
  for (const [id, { record }] of own) {
    const moment = record.onlyChildren ? undefined : readValue(record, field);
    if (typeof moment === 'string') moments.set(id, moment);
    else unknown.push(nameOf(record));
  }
  const absent = [...others.filter((other) => !own.has(idOf(other))), ...unknown];
  for (const [resource, group] of Map.groupBy(absent, (each) => each.resource)) {
    const rows = await transaction.find(resource, [...new Set(group.map(({ key }) => key))]);
    for (const [key, content] of await transaction.load(resource, [...rows.values()])) {
      const { [field]: moment } = content;
      if (typeof moment === 'string') moments.set(idOf({ resource, key }), moment);
    }
  }
  // Canonical timestamps without their Z sort by time. If two are equal, the order of keys decides.
  const rank = (parent: ParentName): string =>
    `${moments.get(idOf(parent))?.slice(0, -1) ?? ''}\u0000${idOf(parent)}`;
  return { keeps: (one, other) => rank(one) > rank(other), hasLeft };
}

const nameOf = ({ resource, key }: ParsedRecord): ParentName => ({ resource: resource.name, key });

/** The record that a child belongs to. */
export const parentOfRow = (
  row: Pick<StoredRow, 'parent' | 'parentResource'> | undefined,
): ParentName | undefined =>
  row?.parent == null || row.parentResource === null
    ? undefined
    : { resource: row.parentResource, key: row.parent };

/** The report of a child that two records contain. */
export function takenChild(
  { resource, key, origin }: ParsedRecord,
  names: Pick<TakenChild, 'from' | 'by' | 'taker'>,
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
