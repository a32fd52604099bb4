import { type Field, type FieldValue, type FieldValues, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import type { RowToPut } from '../../records/rows.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import { type ChildChange, timestampsAfterChange } from '../../records/stamps.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * The fields of the timestamps that this store sets on a record. An authority sets all of them, a replica only its own; the source
 * sends the others.
 */
export function ownTimestamps(
  { model }: WriteTransaction,
  stamp: string,
  fields: ReadonlyMap<string, Field>,
  before: FieldValues | undefined,
  after: FieldValues | undefined,
  changes: ReadonlySet<ChildChange>,
): Record<string, FieldValue> {
  if (model.settings.owner === 'authority')
    return timestampsAfterChange(fields, stamp, before, after, changes);
  return { [returnsOwnTimestamps(model.settings) ? 'ModificationTimestamp' : REPLICA_TIMESTAMP]: stamp };
}

/** A row whose `values` may be changed, so that timestamps can be set. */
export interface MutableRow extends RowToPut {
  readonly values: Record<string, FieldValue>;
}

/** A record to store that has no timestamps yet. */
export interface RowWithoutTimestamps {
  readonly row: MutableRow;
  /** The stored content, at least its timestamps; undefined for a new record. */
  readonly before: FieldValues | undefined;
  /** Its new content; undefined if it is unchanged. */
  readonly after: FieldValues | undefined;
}

const NO_CHANGES: ReadonlySet<ChildChange> = new Set();

/** Stores records of one resource, and sets the timestamps of each record in its row. */
export async function putWithTimestamps(
  transaction: WriteTransaction,
  resource: string,
  records: readonly RowWithoutTimestamps[],
): Promise<readonly RowToPut[]> {
  if (records.length === 0) return [];
  const { fields } = transaction.model.resource(resource);
  const stampOf = transaction.timestamps.forRecords(
    resource,
    records.map(({ row }) => row.key),
    records.every(({ row }) => row.stored === undefined),
  );
  const rows = records.map(({ row, before, after }): RowToPut => {
    Object.assign(
      row.values,
      ownTimestamps(transaction, stampOf(row.key), fields, before, after, NO_CHANGES),
    );
    return row;
  });
  await transaction.put(resource, rows);
  return rows;
}
