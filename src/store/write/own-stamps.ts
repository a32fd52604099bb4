import { type Field, type FieldValue, type FieldValues, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import type { RowToPut } from '../../records/rows.ts';
import { stampsAsOwn } from '../../records/settings.ts';
import { type ChildChange, stampsAfter } from '../../records/stamps.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * The timestamps that this store sets on a record. An authority sets all of them, a replica only its own; the others are
 * what its source sent.
 */
export function ownStamps(
  { model }: WriteTransaction,
  stamp: string,
  fields: ReadonlyMap<string, Field>,
  before: FieldValues | undefined,
  after: FieldValues | undefined,
  changes: ReadonlySet<ChildChange>,
): Record<string, FieldValue> {
  if (model.settings.owner === 'authority') return stampsAfter(fields, stamp, before, after, changes);
  return { [stampsAsOwn(model.settings) ? 'ModificationTimestamp' : REPLICA_TIMESTAMP]: stamp };
}

/** A row with a values object of its own, in which timestamps can be set. */
export interface OwnRow extends RowToPut {
  readonly values: Record<string, FieldValue>;
}

/** A record to store that has no timestamps yet. */
export interface Unstamped {
  readonly row: OwnRow;
  /** The stored content, at least its timestamps; undefined for a new record. */
  readonly before: FieldValues | undefined;
  /** Its new content; undefined if it is unchanged. */
  readonly after: FieldValues | undefined;
}

const NO_CHANGES: ReadonlySet<ChildChange> = new Set();

/** Stores records of one resource, and sets the timestamps of each in its row. */
export async function putStamped(
  transaction: WriteTransaction,
  resource: string,
  records: readonly Unstamped[],
): Promise<readonly RowToPut[]> {
  if (records.length === 0) return [];
  const { fields } = transaction.model.resource(resource);
  const stampOf = transaction.timestamps.of(
    resource,
    records.map(({ row }) => row.key),
    records.every(({ row }) => row.stored === undefined),
  );
  const rows = records.map(({ row, before, after }): RowToPut => {
    Object.assign(row.values, ownStamps(transaction, stampOf(row.key), fields, before, after, NO_CHANGES));
    return row;
  });
  await transaction.put(resource, rows);
  return rows;
}
