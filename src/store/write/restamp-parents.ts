/** Gives new timestamps to records whose children have changed, and to the parents of those (I3). */
import type { StoreModel } from '../../compile/model.ts';
import { COUNTED_CHANGE_TIMESTAMPS, changeTimestampOf, type FieldValues } from '../../dictionary/index.ts';
import { contentHash, isFormerHash } from '../../records/content-hash.ts';
import { countChildren } from '../../records/media.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { changedValues, type RowToRestamp, type StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/timestamps.ts';
import { chunked } from '../../shared/chunked.ts';
import { derivedCounts, type PreparedRecord } from './prepare.ts';
import type { Tally } from './report.ts';
import { type MutableRow, ownTimestamps, type WriteTransaction } from './transaction.ts';

/** A record with changed children. */
export interface TouchedParent extends RecordName {
  readonly changes: ReadonlySet<ChildChange>;
}

/**
 * Moves the timestamps of parents whose children changed, and of their parents in turn (I3). A replica moves only its own
 * timestamp. Parents that are not stored are ignored.
 * @param known parents that the transaction has read and not written since; reading a thousand listings takes as long as storing
 * their media
 */
export async function restampParents(
  transaction: WriteTransaction,
  touched: readonly TouchedParent[],
  tally: Tally,
  known: ReadonlyMap<string, StoredRow> = new Map(),
): Promise<void> {
  if (touched.length === 0) return;
  const above: TouchedParent[] = [];
  for (const [resource, parents] of Map.groupBy(touched, (each) => each.resource)) {
    if (!transaction.model.dictionary.resources.has(resource)) continue;
    const { fields } = transaction.model.resource(resource);
    const found = await findParentRows(transaction, resource, parents, known);
    const stampOf = transaction.timestamps.forRecords(resource, [...found.keys()]);
    const moved = await changedCounts(transaction, resource, parents, found);
    const recounted: RowToRestamp[] = [];
    const rows = parents.flatMap(({ key, changes }) => {
      const stored = found.get(key);
      if (stored === undefined) return [];
      above.push(...touchedBy(resource, stored));
      const stamps = ownTimestamps(transaction, stampOf(key), fields, stored.values, undefined, changes);
      // The parent already has the timestamps if this transaction wrote it.
      const derived = changedValues(stamps, stored.values);
      const counts = moved.get(key);
      if (derived !== undefined) tally.restamped++;
      if (counts !== undefined) recounted.push({ stored, derived: { ...derived, ...counts } });
      return counts !== undefined || derived === undefined ? [] : [{ stored, derived }];
    });
    await transaction.restamp(resource, rows);
    await restampCounted(transaction, resource, recounted);
  }
  await restampParents(transaction, mergeTouchedParents(above), tally);
}

/** The stored rows of records of one resource: known rows are returned, the others are read. */
async function findParentRows(
  transaction: WriteTransaction,
  resource: string,
  parents: readonly TouchedParent[],
  known: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlyMap<string, StoredRow>> {
  const rows = parents.flatMap((parent) => known.get(recordName(parent)) ?? []);
  const unread = parents.filter((parent) => !known.has(recordName(parent))).map(({ key }) => key);
  const found = await transaction.find(resource, unread);
  return new Map([...rows.map((row) => [row.key, row] as const), ...found]);
}

/** The parent of a child that changes, leaves it or is deleted. */
export function touchedBy(resource: string, { parent, parentResource, kind }: StoredRow): TouchedParent[] {
  if (parent === null || parentResource === null) return [];
  return [{ resource: parentResource, key: parent, changes: new Set([changeTimestampOf(resource, kind)]) }];
}

/** Merges entries of the same record, so that each record occurs once, with all changes of its children. */
export function mergeTouchedParents(touched: readonly TouchedParent[]): TouchedParent[] {
  const groups = Map.groupBy(touched, recordName);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [{ ...first, changes: new Set(group.flatMap(({ changes }) => [...changes])) }];
  });
}

export type ChildCounts = Readonly<Record<string, number>>;

/** What a batch does to the children of the records that it writes. */
interface ChildrenAfter {
  readonly put: ReadonlyMap<string, { readonly row: MutableRow }>;
  readonly remove: readonly StoredRow[];
}

/** A record of a batch, and those of its stored children that the batch replaces. */
interface CountedParent {
  readonly key: string;
  readonly isNew: boolean;
  readonly replaced: readonly StoredRow[] | undefined;
}

/** The counts of the records after their batch is stored, by key; those of other records stay unchanged. */
export function countsAfterBatch(
  { model }: WriteTransaction,
  resource: string,
  holders: readonly CountedParent[],
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

/** The counts of a record, compared with the stored ones. */
interface ComparedCounts {
  /** The new counts; empty if the store derives none. */
  readonly counts: FieldValues;
  /**
   * The hash to store, in the form of the stored one unless the counts are derived: if a hash does not cover the counts,
   * a check derives them itself.
   */
  readonly hash: string;
  /** Whether the record's own content is stored already. */
  readonly isSame: boolean;
  /** The counts that differ from the stored ones. */
  readonly moved: ChildCounts | undefined;
}

const NO_COUNTS: FieldValues = {};

/** @param counts the counts of the record after the write; undefined: the stored ones stay */
export function compareCounts(
  model: StoreModel,
  fields: readonly string[],
  { record, hash }: PreparedRecord,
  stored: StoredRow | undefined,
  counts: ChildCounts | undefined,
): ComparedCounts {
  const before = stored === undefined ? NO_COUNTS : pickCounts(fields, stored.values);
  const moved = counts === undefined || changedValues(counts, before) === undefined ? undefined : counts;
  const { resource } = record;
  const { owner } = model.settings;
  const hashLike = (like: string): string =>
    isFormerHash(resource, owner, like)
      ? contentHash(resource, { ...record.values, ...before }, owner, undefined, like)
      : hash;
  const like = stored === undefined ? hash : hashLike(stored.hash);
  const isSame = stored !== undefined && stored.isTorn !== true && stored.hash === like;
  return { counts: moved ?? before, hash: counts === undefined ? like : hash, isSame, moved };
}

const pickCounts = (fields: readonly string[], values: FieldValues): FieldValues =>
  Object.fromEntries(fields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));

/** Writes records whose content is unchanged except for their counts. */
export async function restampCounted(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly RowToRestamp[],
): Promise<void> {
  const hashes = await renewedHashes(
    transaction,
    resource,
    rows.map(({ stored }) => stored),
  );
  await transaction.restamp(
    resource,
    rows.map(({ stored, derived }) => ({ stored, derived, hash: hashes.get(stored.key) ?? stored.hash })),
  );
}

/** The number of complete records that are in memory at once, as in rows/restamp-rows.ts. */
const REHASHED_AT_ONCE = 100;

/** The new hashes of records whose hashes were computed by an earlier version of plat and covered their counts, by key. */
async function renewedHashes(
  { model, load }: WriteTransaction,
  name: string,
  rows: readonly StoredRow[],
): Promise<ReadonlyMap<string, string>> {
  const resource = model.resource(name);
  const { owner } = model.settings;
  const hashes = new Map<string, string>();
  const former = rows.filter(({ hash }) => isFormerHash(resource, owner, hash));
  for (const some of chunked(former, REHASHED_AT_ONCE)) {
    const contents = await load(name, some);
    for (const { key, hash } of some) {
      const content = contents.get(key) ?? {};
      // A hash that does not match its content is not replaced by one that does.
      const isSound = contentHash(resource, content, owner, undefined, hash) === hash;
      if (isSound) hashes.set(key, contentHash(resource, content, owner));
    }
  }
  return hashes;
}

/** The counts of stored records according to their stored children, if they differ from the stored counts. */
async function changedCounts(
  transaction: WriteTransaction,
  resource: string,
  touched: readonly { readonly key: string; readonly changes: ReadonlySet<ChildChange> }[],
  found: ReadonlyMap<string, StoredRow>,
): Promise<ReadonlyMap<string, ChildCounts>> {
  const fields = derivedCounts(transaction.model, resource);
  const keys = touched
    .filter(
      ({ key, changes }) =>
        found.has(key) && [...changes].some((each) => COUNTED_CHANGE_TIMESTAMPS.has(each)),
    )
    .map(({ key }) => key);
  const moved = new Map<string, ChildCounts>();
  if (fields.length === 0 || keys.length === 0) return moved;
  const children = await transaction.countedChildren(resource, keys);
  for (const key of keys) {
    const counts = countChildren(children.get(key) ?? [], fields);
    const others = changedValues(counts, found.get(key)?.values);
    if (others !== undefined) moved.set(key, others);
  }
  return moved;
}
