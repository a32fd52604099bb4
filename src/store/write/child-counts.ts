/** Keeps the counts of a listing's children correct in the transaction that changes them (records/media.ts). */

import type { StoreModel } from '../../compile/model.ts';
import { COUNTED_CHANGES, type FieldValues } from '../../dictionary/index.ts';
import { COUNTED, type CountedChild, countChildren } from '../../records/media.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';
import { chunked } from '../../shared/chunked.ts';
import { derivedCounts, hasherOf, type PreparedRecord } from './prepare.ts';
import type { WriteTransaction } from './transaction.ts';

export type ChildCounts = Readonly<Record<string, number>>;

/** What a batch does to the children of the records that it writes. */
interface ChildrenAfter {
  readonly put: ReadonlyMap<string, { readonly row: RowToPut }>;
  readonly remove: readonly StoredRow[];
}

/** A record of a batch, and those of its stored children that the batch replaces. */
interface Holder {
  readonly key: string;
  readonly isNew: boolean;
  readonly replaced: readonly StoredRow[] | undefined;
}

/** The counts of the records after their batch is stored, by key; those of other records stay unchanged. */
export function countsAfter(
  { model }: WriteTransaction,
  resource: string,
  holders: readonly Holder[],
  { put, remove }: ChildrenAfter = { put: new Map(), remove: [] },
): ReadonlyMap<string, ChildCounts> {
  const fields = derivedCounts(model, resource);
  if (fields.length === 0) return new Map();
  const gone = new Set(remove.map((row) => row.key));
  const under = Map.groupBy(
    [...put.values()].map(({ row }) => row).filter((row) => row.parentResource === resource),
    (row) => row.parent,
  );
  return new Map(
    holders.flatMap(({ key, isNew, replaced }) => {
      const own = under.get(key) ?? [];
      if (replaced === undefined && own.length === 0 && !isNew) return [];
      const kept = (replaced ?? []).filter((row) => !gone.has(row.key) && !put.has(row.key));
      return [[key, countChildren([...kept, ...own], fields)] as const];
    }),
  );
}

/** A record's counts, compared with its stored ones. */
interface Counted {
  /** The new counts; empty if the store derives none. */
  readonly counts: FieldValues;
  readonly hash: string;
  /** Whether the record's own content is stored already. */
  readonly isSame: boolean;
  /** The counts that differ from the stored ones. */
  readonly moved: ChildCounts | undefined;
}

const NO_COUNTS: FieldValues = {};

/** @param counts of the record after the write; undefined: the stored ones stay */
export function withCounts(
  model: StoreModel,
  fields: readonly string[],
  { record, hash }: PreparedRecord,
  stored: StoredRow | undefined,
  counts: ChildCounts | undefined,
): Counted {
  const isWhole = stored !== undefined && stored.isTorn !== true;
  if (fields.length === 0) {
    return { counts: NO_COUNTS, hash, isSame: isWhole && stored.hash === hash, moved: undefined };
  }
  const hashOf = hasherOf(model, record.resource);
  const hashWith = (derived: FieldValues): string => hashOf(record.values, undefined, derived);
  const before = stored === undefined ? NO_COUNTS : pickCounts(fields, stored.values);
  const moved = counts === undefined || isEqual(before, counts) ? undefined : counts;
  const unmovedHash = isWhole || moved === undefined ? hashWith(before) : '';
  return {
    counts: moved ?? before,
    hash: moved === undefined ? unmovedHash : hashWith(moved),
    isSame: isWhole && stored.hash === unmovedHash,
    moved,
  };
}

const pickCounts = (fields: readonly string[], values: FieldValues): FieldValues =>
  Object.fromEntries(fields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));

const isEqual = (stored: FieldValues, counts: ChildCounts): boolean =>
  Object.entries(counts).every(([name, count]) => stored[name] === count);

/** A stored record with new counts and timestamps. */
export interface Counts {
  readonly stored: StoredRow;
  /** Counts and timestamps. */
  readonly values: FieldValues;
}

/**
 * The number of complete records that are in memory at once. A record of a hundred members takes 20 kB while it is read
 * and written; those of a whole batch would outlive several collections of the young generation, and fill the old one
 * with garbage.
 */
const RECOUNTED_AT_ONCE = 100;

/** Writes records whose content is unchanged except for their counts. */
export async function restampCounted(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly Counts[],
): Promise<void> {
  const { model } = transaction;
  const hashOf = hasherOf(model, model.resource(resource));
  for (const some of chunked(rows, RECOUNTED_AT_ONCE)) {
    const contents = await transaction.load(
      resource,
      some.map(({ stored }) => stored),
    );
    await transaction.restamp(
      resource,
      some.map(({ stored, values }) => {
        const content = contents.get(stored.key) ?? {};
        const isSound = hashOf(content) === stored.hash;
        Object.assign(content, values);
        // A content that does not match its hash continues not to match.
        return { stored, values: content, hash: isSound ? hashOf(content) : stored.hash };
      }),
    );
  }
}

/** The counts of stored records according to their stored children, if they differ from the stored counts. */
export async function movedCounts(
  transaction: WriteTransaction,
  resource: string,
  touched: readonly { readonly key: string; readonly changes: ReadonlySet<ChildChange> }[],
  found: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlyMap<string, ChildCounts>> {
  const fields = derivedCounts(transaction.model, resource);
  const keys = touched
    .filter(({ key, changes }) => found.has(key) && [...changes].some((each) => COUNTED_CHANGES.has(each)))
    .map(({ key }) => key);
  const moved = new Map<string, ChildCounts>();
  if (fields.length === 0 || keys.length === 0) return moved;
  const children = await transaction.children(COUNTED, resource, keys);
  for (const key of keys) {
    const present: readonly CountedChild[] = children.get(key) ?? [];
    const counts = countChildren(present, fields);
    if (!isEqual(found.get(key)?.values ?? {}, counts)) moved.set(key, counts);
  }
  return moved;
}
