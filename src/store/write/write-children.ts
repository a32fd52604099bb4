import { changeTimestampOf } from '../../dictionary/index.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { ChildChange } from '../../records/stamps.ts';
import { adoptOrphans } from './adopt.ts';
import { putWithTimestamps, type RowWithoutTimestamps } from './own-stamps.ts';
import {
  hashUnderSystem,
  namedParent,
  ownershipConflict,
  type ParentName,
  placeChild,
} from './place-children.ts';
import type { PreparedRecord } from './prepare.ts';
import { emptyTally, type WriteReport } from './report.ts';
import { idOf, restampParents } from './restamp.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * Stores records of a resource that is part of another (media, rooms, …), given separately. Their parents get new timestamps (I3).
 * A child whose parent is not stored is kept and counted.
 * @param batch contains each key at most once
 */
export async function writeChildren(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
): Promise<WriteReport> {
  const tally = emptyTally(transaction.timestamps.moment);
  const { owner } = transaction.model.settings;
  const found = await transaction.find(
    resource,
    batch.map(({ record }) => record.key),
  );
  const placed = batch.map((child) => ({ child, parent: namedParent(child) ?? { resource: '', key: '' } }));
  const parents = await findParents(
    transaction,
    placed.map(({ parent }) => parent),
  );
  const changed: RowWithoutTimestamps[] = [];
  const touched = new Map<string, { parent: ParentName; changes: Set<ChildChange> }>();
  const touch = (parent: ParentName, change: ChildChange): void => {
    touched.getOrInsertComputed(idOf(parent), () => ({ parent, changes: new Set() })).changes.add(change);
  };
  for (const { child, parent } of placed) {
    const { key, values } = child.record;
    const stored = found.get(key);
    const holder = parents.get(idOf(parent));
    if (holder === undefined) tally.orphans++;
    if (
      stored !== undefined &&
      stored.hash === hashUnderSystem(child, holder?.system, owner) &&
      isUnder(stored, parent)
    ) {
      tally.unchanged++;
      continue;
    }
    const conflict = ownershipConflict(
      transaction,
      stored,
      holder ? holder.system : values.OriginatingSystemID,
    );
    const result =
      conflict === undefined ? placeChild(child, parent, holder?.system, stored, owner) : undefined;
    if (result?.ok !== true) {
      tally.rejected.push({ resource, key, reason: conflict ?? result?.reason ?? '' });
      continue;
    }
    changed.push({ row: result.row, before: stored?.values, after: values });
    touch(parent, changeTimestampOf(resource, child.kind));
    if (stored?.parent != null && stored.parentResource != null) {
      touch(
        { resource: stored.parentResource, key: stored.parent },
        changeTimestampOf(resource, stored.kind),
      );
    }
    if (stored === undefined) tally.inserted++;
    else tally.changed++;
  }
  const put = await putWithTimestamps(transaction, resource, changed);
  await adoptOrphans(transaction, resource, put, tally);
  await restampParents(
    transaction,
    [...touched.values()].map(({ parent, changes }) => ({ ...parent, changes })),
    tally,
    parents,
  );
  tally.stamp = transaction.timestamps.newest;
  return tally;
}

const isUnder = (row: StoredRow, parent: ParentName): boolean =>
  row.parent === parent.key && row.parentResource === parent.resource;

async function findParents(
  transaction: WriteTransaction,
  names: readonly ParentName[],
): Promise<Map<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  for (const [resource, group] of Map.groupBy(names, (parent) => parent.resource)) {
    if (!transaction.model.dictionary.resources.has(resource)) continue;
    const keys = [...new Set(group.map(({ key }) => key))];
    for (const [key, row] of await transaction.find(resource, keys)) found.set(idOf({ resource, key }), row);
  }
  return found;
}
