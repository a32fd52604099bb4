import { changeTimestampOf } from '../../dictionary/index.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';
import { emptyTally, type Tally, type WriteReport } from './report.ts';
import { restampParents } from './restamp.ts';
import type { WriteTransaction } from './transaction.ts';

/** Deletes records with their children. Deleting a child gives its parent a new timestamp (I3). */
export async function deleteRecords(
  transaction: WriteTransaction,
  resource: string,
  keys: readonly string[],
): Promise<WriteReport> {
  const tally = emptyTally(transaction.timestamps.moment);
  const rows = [...(await transaction.find(resource, [...new Set(keys)])).values()];
  const touched = new Map<string, { resource: string; key: string; changes: Set<ChildChange> }>();
  for (const { parent, parentResource, kind } of rows) {
    if (parent === null || parentResource === null) continue;
    const id = `${parentResource}\u0000${parent}`;
    const entry = { resource: parentResource, key: parent, changes: new Set<ChildChange>() };
    touched.getOrInsert(id, entry).changes.add(changeTimestampOf(resource, kind));
  }
  await removeWithChildren(transaction, resource, rows, tally);
  await restampParents(transaction, [...touched.values()], tally);
  tally.deleted += rows.length;
  tally.stamp = transaction.timestamps.newest;
  return tally;
}

function isStoredPart({ model }: WriteTransaction, resource: string): boolean {
  return model.stores(resource) && model.resource(resource).parent !== undefined;
}

/** Removes the children of records, then the records, and counts the children. */
export async function removeWithChildren(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly StoredRow[],
  tally: Tally,
): Promise<void> {
  if (rows.length === 0) return;
  const owners = rows.map(({ key }) => key);
  const targets = [...transaction.model.resource(resource).navigations.values()]
    .filter(({ collection, target }) => collection && isStoredPart(transaction, target))
    .map(({ target }) => target);
  for (const target of new Set(targets)) {
    const children = [...(await transaction.children(target, resource, owners)).values()].flat();
    tally.children.deleted += children.length;
    await removeWithChildren(transaction, target, children, tally);
  }
  await transaction.remove(resource, rows);
}
