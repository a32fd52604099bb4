/** Keeps the counts of a listing's children true in the transaction that changes them (record/child-counts.ts). */

import type { StoreModel } from '../../compile/model.ts';
import { CHILD_COUNTS, COUNTED_CHANGES, type FieldValues } from '../../dictionary/index.ts';
import { contentHash } from '../../records/content-hash.ts';
import { COUNTED, COUNTING, type CountedChild, countChildren } from '../../records/media.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';
import type { PreparedRecord } from './prepare.ts';
import type { WriteTransaction } from './transaction.ts';

export type ChildCounts = Readonly<Record<string, number>>;

/** The counts that a store derives for a resource: those in use; none in a replica. */
export function derivedCounts({ settings, profile }: StoreModel, resource: string): readonly string[] {
  if (settings.owner !== 'authority' || resource !== COUNTING) return [];
  const inUse = profile.since.get(resource);
  return CHILD_COUNTS.filter((name) => inUse?.has(name) === true);
}

/** What a batch does to the children of the records that it writes. */
export interface ChildrenAfter {
  readonly put: ReadonlyMap<string, { readonly row: RowToPut }>;
  readonly remove: readonly StoredRow[];
}

/** A record of a batch, and its stored children as far as the batch brings others in their place. */
export interface Holder {
  readonly key: string;
  readonly isNew: boolean;
  readonly replaced: readonly StoredRow[] | undefined;
}

/** The counts of the records once their batch is stored, by their keys; those of others stay as they are. */
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

/** A record's counts, beside what is stored of it. */
export interface Counted {
  /** Those that it has from now on; none where the store derives none. */
  readonly counts: FieldValues;
  readonly hash: string;
  /** Whether what the record itself says is stored already. */
  readonly isSame: boolean;
  /** Counts that are others than the stored ones. */
  readonly moved: ChildCounts | undefined;
}

const NO_COUNTS: FieldValues = {};

/** @param counts those that the record has from now on; undefined for those that are stored */
export function withCounts(
  { settings }: StoreModel,
  fields: readonly string[],
  { record, hash }: PreparedRecord,
  stored: StoredRow | undefined,
  counts: ChildCounts | undefined,
): Counted {
  const isWhole = stored !== undefined && stored.isTorn !== true;
  if (fields.length === 0) {
    return { counts: NO_COUNTS, hash, isSame: isWhole && stored.hash === hash, moved: undefined };
  }
  const hashWith = (told: FieldValues): string =>
    contentHash(record.resource, record.values, settings.owner, undefined, told);
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

/** A stored record whose counts, and stamps, are others from now on. */
export interface Recounted {
  readonly stored: StoredRow;
  /** Counts and stamps. */
  readonly values: FieldValues;
}

/** Writes records whose content stays but for their counts. */
export async function putRecounted(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly Recounted[],
): Promise<void> {
  if (rows.length === 0) return;
  const { model } = transaction;
  const contents = await transaction.load(
    resource,
    rows.map(({ stored }) => stored),
  );
  const hashOf = (values: FieldValues): string =>
    contentHash(model.resource(resource), values, model.settings.owner);
  await transaction.put(
    resource,
    rows.map(({ stored, values }) => {
      const content = contents.get(stored.key) ?? {};
      const after = Object.assign({}, content, values);
      // A content that is not what was stored stays known as that.
      const isSound = hashOf(content) === stored.hash;
      return { ...stored, stored, hash: isSound ? hashOf(after) : stored.hash, values: after };
    }),
  );
}

/** The counts of stored records as their children are stored now, as far as they are others than those that they have. */
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
