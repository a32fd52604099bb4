import { changeTimestampOf } from '../../dictionary/index.ts';
import { changedValues, type RowToRestamp, type StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';
import { changedCounts, restampCounted } from './child-counts.ts';
import { ownTimestamps } from './own-stamps.ts';
import type { Tally } from './report.ts';
import type { WriteTransaction } from './transaction.ts';

/** Identifies a record among those of every resource. */
export const idOf = ({ resource, key }: { readonly resource: string; readonly key: string }): string =>
  `${resource}\u0000${key}`;

/** A record with changed children. */
export interface TouchedParent {
  readonly resource: string;
  readonly key: string;
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
      above.push(...touchedParentOf(resource, stored));
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
  const rows = parents.flatMap((parent) => known.get(idOf(parent)) ?? []);
  const unread = parents.filter((parent) => !known.has(idOf(parent))).map(({ key }) => key);
  const found = await transaction.find(resource, unread);
  return new Map([...rows.map((row) => [row.key, row] as const), ...found]);
}

function touchedParentOf(resource: string, { parent, parentResource, kind }: StoredRow): TouchedParent[] {
  if (parent === null || parentResource === null) return [];
  return [{ resource: parentResource, key: parent, changes: new Set([changeTimestampOf(resource, kind)]) }];
}

/** Merges entries of the same record, so that each record occurs once, with all changes of its children. */
export function mergeTouchedParents(touched: readonly TouchedParent[]): TouchedParent[] {
  const groups = Map.groupBy(touched, idOf);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, changes: union(group) }];
  });
}

const union = (group: readonly TouchedParent[]): ReadonlySet<ChildChange> =>
  new Set(group.flatMap(({ changes }) => [...changes]));
