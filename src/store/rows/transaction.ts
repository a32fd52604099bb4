/** The operations of a write transaction, on a session that has the write lock. */

import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field } from '../../dictionary/index.ts';
import { COUNTED_RESOURCE } from '../../records/media.ts';
import type { StoredRow } from '../../records/rows.ts';
import { checkSession } from '../check/checks.ts';
import { rewriteRows } from '../check/rewrite-rows.ts';
import { findRowFaults } from '../check/row-faults.ts';
import { checkpointWriter } from '../checkpoint/checkpoint-tables.ts';
import type { WriteSession } from '../session.ts';
import type { CommitTimestamps } from '../write/commit-timestamps.ts';
import { emptyTally } from '../write/report.ts';
import { mergeTouchedParents, restampParents, touchedBy } from '../write/restamp-parents.ts';
import type { WriteTransaction } from '../write/transaction.ts';
import { ChangeLog } from './change-log.ts';
import { Counters } from './counters.ts';
import { RowPutter } from './put-rows.ts';
import { Restamper } from './restamp-rows.ts';
import { storedRows } from './stored-rows.ts';
import { addTombstones, restampTombstones, tombstonesAfter } from './tombstones.ts';
import { updateAllVisibility } from './visibility.ts';
import type { WriteContext } from './write-context.ts';

/** A write transaction that can also update all rows of a resource to match the model. */
export interface StoreTransaction extends WriteTransaction {
  /** Rewrites the texts of every record of a resource. @param returned as in `Restamper` */
  rewriteTexts(resource: string, returned: readonly Field[]): Promise<void>;
  /** Evaluates the visibility of all rows of some resources again. @param newBits as in `updateAllVisibility` */
  updateVisibility(concerns: (resource: string) => boolean, newBits: number): Promise<void>;
}

/** What a transaction does to the records of one resource. */
function tableWriter(context: WriteContext, layout: ResourceLayout) {
  const { session, counters } = context;
  const resource = layout.resource.name;
  const stored = storedRows(session, layout);
  const putter = new RowPutter(context, layout);
  return {
    ...stored,
    putter,
    restamper: new Restamper(context, layout, stored, putter),
    /** @param deletedAt the timestamp of each tombstone, by key */
    async remove(rows: readonly StoredRow[], deletedAt: (key: string) => string): Promise<void> {
      const taken = await putter.remove(rows);
      const gone = rows.map((row) => {
        const { visible, system } = taken.get(row.key) ?? row;
        return { key: row.key, visible, system, deletedAt: deletedAt(row.key) };
      });
      for (const { visible, system } of gone) counters.add(resource, visible, system, -1);
      await addTombstones(session, resource, gone);
      await counters.flush();
    },
  };
}

/**
 * Runs work on the records of a store, and appends its changes to the sequence of changes.
 * @param source the source of the records; null in an authority
 */
export async function runTransaction<T>(
  session: WriteSession,
  model: StoreModel,
  timestamps: CommitTimestamps,
  source: string | null,
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<T> {
  const changes = new ChangeLog(session, model, Date.parse(timestamps.moment));
  const result = await work(storeTransaction(session, model, timestamps, source, changes));
  await changes.flush();
  return result;
}

function storeTransaction(
  session: WriteSession,
  model: StoreModel,
  timestamps: CommitTimestamps,
  source: string | null,
  changes: ChangeLog,
): StoreTransaction {
  const counters = new Counters(session);
  const context = { session, model, counters, changes, source };
  const writers = new Map<string, ReturnType<typeof tableWriter>>();
  const table = (resource: string) =>
    writers.getOrInsertComputed(resource, () => tableWriter(context, model.layout(resource)));
  const put: WriteTransaction['put'] = async (resource, rows) => {
    if (rows.length === 0) return;
    await session.beforePut?.(rows);
    await table(resource).putter.put(rows);
  };
  const remove: WriteTransaction['remove'] = async (resource, rows) => {
    if (rows.length === 0) return;
    const keys = rows.map(({ key }) => key);
    await table(resource).remove(rows, timestamps.forRecords(resource, keys));
  };
  const transaction: StoreTransaction = {
    model,
    timestamps,
    source,
    checkpoints: checkpointWriter(session),
    // A resource that was never stored has no tables.
    find: async (resource, keys) => (model.stores(resource) ? table(resource).find(keys) : new Map()),
    after: async (resource, key, limit) => (model.stores(resource) ? table(resource).after(key, limit) : []),
    children: async (resource, parentResource, parents) =>
      model.stores(resource) ? table(resource).children(parentResource, parents) : new Map(),
    countedChildren: async (parentResource, parents) =>
      model.stores(COUNTED_RESOURCE)
        ? table(COUNTED_RESOURCE).countedChildren(parentResource, parents)
        : new Map(),
    load: (resource, rows) => table(resource).load(rows),
    findFaulty: async (resource, keys) => {
      if (!model.stores(resource) || keys.length === 0) return new Set();
      const checked = { kind: 'keys', keys } as const;
      const { faults } = await findRowFaults(checkSession(session, model), model.layout(resource), checked);
      return new Set(faults.map(({ key }) => key));
    },
    rewrite: async (resource, keys) => {
      const stampOf = (key: string): string => timestamps.forRecords(resource, [...keys, key])(key);
      return rewriteRows(checkSession(session, model), model.layout(resource), keys, {
        stampOf,
        put: (rows) => put(resource, rows),
        remove: (rows) => remove(resource, rows),
        restampParents: (rows) => {
          const touched = mergeTouchedParents(rows.flatMap((row) => touchedBy(resource, row)));
          return restampParents(transaction, touched, emptyTally(timestamps.moment));
        },
      });
    },
    put,
    restamp: async (resource, rows) =>
      rows.length === 0 ? undefined : table(resource).restamper.restamp(rows),
    withTimestampAfter: async (resource, field, moment, limit) =>
      model.stores(resource) ? table(resource).withTimestampAfter(field, moment, limit) : [],
    tombstonesAfter: (moment, limit) => tombstonesAfter(session, moment, limit),
    restampTombstones: (moved) => restampTombstones(session, moved),
    remove,
    takeChangedValues: () => counters.takeChangedValues(),
    valuesInUse: (last, limit) => counters.valuesInUse(last, limit),
    filterValuesInUse: (values) => counters.filterValuesInUse(values),
    rewriteTexts: (resource, returned) => table(resource).restamper.rewriteTexts(returned),
    async updateVisibility(concerns, newBits) {
      await updateAllVisibility(context, concerns, newBits);
      await counters.flush();
    },
  };
  return transaction;
}
