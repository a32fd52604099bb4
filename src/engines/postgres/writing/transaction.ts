import type { StoreModel } from '../../../compile/model.ts';
import type { StoredRow } from '../../../records/rows.ts';
import { rewriteRows } from '../../../store/check/rewrite-rows.ts';
import { findRowFaults } from '../../../store/check/row-faults.ts';
import type { CommitTimestamps } from '../../../store/write/commit-timestamps.ts';
import type { WriteTransaction } from '../../../store/write/transaction.ts';
import { askerOf } from '../asker.ts';
import type { ServerSession } from '../connection/session.ts';
import { postgresDialect } from '../dialect.ts';
import { postgresLedgerWriter } from '../ledger-writer.ts';
import type { Placing } from '../making/partitions.ts';
import { counters } from './counters.ts';
import { judgeAll } from './judge.ts';
import { type TableWriter, tableWriter } from './table-writer.ts';
import { restampTombstones, tombstonesAfter } from './tombstones.ts';

/** A transaction that can also write the texts of a resource's records anew. */
interface PostgresTransaction extends WriteTransaction {
  renew(resource: string): Promise<void>;
  /** Evaluates the visibility of the rows of some resources anew. */
  judge(concerns: (resource: string) => boolean): Promise<void>;
}

/**
 * A write transaction on a session that holds the write lock.
 * @param place for records that may be of systems that have no partitions yet, in a store that has such
 */
export function postgresTransaction(
  session: ServerSession,
  model: StoreModel,
  timestamps: CommitTimestamps,
  source: string | null,
  place?: Placing,
): PostgresTransaction {
  const court = { session, model, counters: counters(session), source, isPartitioned: place !== undefined };
  const writers = new Map<string, TableWriter>();
  const table = (resource: string): TableWriter => {
    const known = writers.get(resource);
    if (known !== undefined) return known;
    const made = tableWriter(court, model.layout(resource));
    writers.set(resource, made);
    return made;
  };
  const deletedAt = (resource: string, rows: readonly StoredRow[]): ((key: string) => string) =>
    timestamps.of(
      resource,
      rows.map(({ key }) => key),
    );
  // Of a resource that was never stored there is nothing to find, and there are no tables to look into.
  const stored = async <T>(
    resource: string,
    found: (records: TableWriter) => Promise<T>,
    nothing: T,
  ): Promise<T> => (model.stores(resource) ? found(table(resource)) : nothing);
  return {
    model,
    timestamps,
    source,
    ledger: postgresLedgerWriter(session),
    find: (resource, keys) => stored(resource, (records) => records.find(keys), new Map()),
    all: (resource) => stored(resource, (records) => records.all(), []),
    children: (resource, parentResource, parents) =>
      stored(resource, (records) => records.children(parentResource, parents), new Map()),
    load: (resource, rows) => table(resource).load(rows),
    faulty: async (resource, keys) => {
      if (!model.stores(resource) || keys.length === 0) return new Set();
      const asker = askerOf(session, { dialect: postgresDialect, model });
      const { faults } = await findRowFaults(asker, model.layout(resource), { kind: 'keys', keys });
      return new Set(faults.map(({ key }) => key));
    },
    rewrite: async (resource, keys) => {
      const asker = askerOf(session, { dialect: postgresDialect, model });
      const { put, remove } = table(resource);
      const stampOf = (key: string): string => timestamps.of(resource, [...keys, key])(key);
      return rewriteRows(asker, model.layout(resource), keys, stampOf, {
        remove: (rows) => remove(rows, deletedAt(resource, rows)),
        put: async (rows) => {
          await place?.(rows);
          await put(rows);
        },
      });
    },
    put: async (resource, rows) => {
      if (rows.length === 0) return;
      await place?.(rows);
      await table(resource).put(rows);
    },
    restamp: async (resource, rows) => (rows.length === 0 ? undefined : table(resource).restamp(rows)),
    stampedAfter: (resource, field, moment, limit) =>
      stored(resource, (records) => records.stampedAfter(field, moment, limit), []),
    tombstonesAfter: (moment, limit) => tombstonesAfter(session, moment, limit),
    restampTombstones: (moved) => restampTombstones(session, moved),
    remove: async (resource, rows) =>
      rows.length === 0 ? undefined : table(resource).remove(rows, deletedAt(resource, rows)),
    valuesChanged: () => court.counters.valuesChanged(),
    valuesInUse: () => court.counters.valuesInUse(),
    renew: (resource) => table(resource).renew(),
    async judge(concerns) {
      await judgeAll(court, concerns);
      await court.counters.flush();
    },
  };
}
