/** Deletions of records, which also delete their children. */
import type { StoredRow } from '../../records/rows.ts';
import { emptyTally, type Tally, type WriteReport } from './report.ts';
import { mergeTouchedParents, restampParents, touchedBy } from './restamp-parents.ts';
import type { WriteTransaction } from './transaction.ts';

/** Deletes records with their children. Deleting a child gives its parent a new timestamp (I3). */
export async function deleteRecords(
  transaction: WriteTransaction,
  resource: string,
  keys: readonly string[],
): Promise<WriteReport> {
  const tally = emptyTally(transaction.timestamps.moment);
  const rows = [...(await transaction.find(resource, [...new Set(keys)])).values()];
  const touched = mergeTouchedParents(rows.flatMap((row) => touchedBy(resource, row)));
  await removeWithChildren(transaction, resource, rows, tally);
  await restampParents(transaction, touched, tally);
  tally.deleted += rows.length;
  tally.stamp = transaction.timestamps.newest;
  return tally;
}

/** Removes the children of records, then the records, and counts the children. */
export async function removeWithChildren(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly StoredRow[],
  tally: Tally,
): Promise<void> {
  if (rows.length === 0) return;
  const { model } = transaction;
  const owners = rows.map(({ key }) => key);
  const isStoredPart = (target: string) =>
    model.stores(target) && model.resource(target).parent !== undefined;
  const targets = [...model.resource(resource).navigations.values()]
    .filter(({ collection, target }) => collection && isStoredPart(target))
    .map(({ target }) => target);
  for (const target of new Set(targets)) {
    const children = [...(await transaction.children(target, resource, owners)).values()].flat();
    tally.children.deleted += children.length;
    await removeWithChildren(transaction, target, children, tally);
  }
  await transaction.remove(resource, rows);
}
