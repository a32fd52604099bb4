import type { StoreModel } from '../../compile/model.ts';
import type { LookupValue, ValueInUse } from '../../compile/values-in-use.ts';
import { type Field, type FieldValue, type FieldValues, REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import type { CountedChild } from '../../records/media.ts';
import type { RowToPut, RowToRestamp, StoredRow, Tombstone } from '../../records/rows.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import { type ChildChange, timestampsAfterChange } from '../../records/timestamps.ts';
import type { CheckpointWriter } from '../checkpoint/checkpoints.ts';
import type { CommitTimestamps } from './commit-timestamps.ts';

/**
 * The operations of one write transaction. All of them are set-based: a batch needs a handful of calls, whatever its
 * size. The order of their results does not depend on the engine (rows/stored-rows.ts).
 */
export interface WriteTransaction {
  readonly model: StoreModel;
  /** The timestamps for the changes of this transaction (I2), and its own moment. */
  readonly timestamps: CommitTimestamps;
  /** The source of this transaction's records; null in an authority. */
  readonly source: string | null;
  /** Writes the replica's checkpoint in the same transaction as the records. */
  readonly checkpoints: CheckpointWriter;
  find(resource: string, keys: readonly string[]): Promise<ReadonlyMap<string, StoredRow>>;
  /** In key order. */
  after(resource: string, key: string, limit: number): Promise<readonly StoredRow[]>;
  children(
    resource: string,
    parentResource: string,
    parents: readonly string[],
  ): Promise<ReadonlyMap<string, readonly StoredRow[]>>;
  /** The values of children that counts depend on (records/media.ts), by parent. */
  countedChildren(
    parentResource: string,
    parents: readonly string[],
  ): Promise<ReadonlyMap<string, readonly CountedChild[]>>;
  /** The complete content of stored records, as objects that belong to the caller. */
  load(
    resource: string,
    rows: readonly StoredRow[],
  ): Promise<ReadonlyMap<string, Record<string, FieldValue>>>;
  /** Returns those of the given keys whose rows are, or may be, inconsistent (check/row-faults.ts). */
  findFaulty(resource: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Rewrites rows from the parts that agree (check/rewrite-rows.ts).
   * @returns the keys of records that must be fetched from their source again
   */
  rewrite(resource: string, keys: readonly string[]): Promise<readonly string[]>;
  /** Inserts or replaces rows, and updates the visibility of the rows and of their children. */
  put(resource: string, rows: readonly RowToPut[]): Promise<void>;
  restamp(resource: string, rows: readonly RowToRestamp[]): Promise<void>;
  /** Rows with a later timestamp in a field, in the order of that field and their keys. @param moment a canonical timestamp */
  withTimestampAfter(
    resource: string,
    field: string,
    moment: string,
    limit: number,
  ): Promise<readonly StoredRow[]>;
  /** Tombstones of later deletions, in their order; one of an earlier deletion within the same second may be among them. */
  tombstonesAfter(moment: string, limit: number): Promise<readonly Tombstone[]>;
  restampTombstones(tombstones: readonly Tombstone[]): Promise<void>;
  /** The values whose counts have changed since the last call, and the roles for which they are now in use. */
  takeChangedValues(): Promise<readonly ValueInUse[]>;
  /**
   * Values in use that are in no list (values-in-use.ts), in a fixed order.
   * @param last the value before them; undefined: from the first one
   */
  valuesInUse(last: LookupValue | undefined, limit: number): Promise<readonly ValueInUse[]>;
  /** Returns those of the given values that are in use and in no list. */
  filterValuesInUse(values: readonly LookupValue[]): Promise<readonly ValueInUse[]>;
  /** Deletes rows, and leaves a tombstone for each. */
  remove(resource: string, rows: readonly StoredRow[]): Promise<void>;
}

/** The timestamps that this store sets on a record: an authority all of them, a replica only its own. */
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
