import type { StoreModel } from '../../compile/model.ts';
import type { StoredRow } from '../../records/rows.ts';
import { rewriteRows } from '../../store/check/rewrite-rows.ts';
import { findRowFaults } from '../../store/check/row-faults.ts';
import type { CommitTimestamps } from '../../store/write/commit-timestamps.ts';
import type { WriteTransaction } from '../../store/write/transaction.ts';
import { askerOf } from './asker.ts';
import type { Connection } from './connection.ts';
import { counters } from './counters.ts';
import { judgeAll } from './judge.ts';
import { sqliteLedgerWriter } from './ledger.ts';
import { type TableWriter, tableWriter } from './table-writer.ts';
import { restampTombstones, tombstonesAfter } from './tombstones.ts';

/** A transaction that can also write the texts of a resource's records anew. */
export interface SqliteTransaction extends WriteTransaction {
  renew(resource: string): Promise<void>;
  /** Evaluates the visibility of the rows of some resources anew. */
  judge(concerns: (resource: string) => boolean): void;
}

/** A write transaction on a connection that holds the write lock. */
export function sqliteTransaction(
  connection: Connection,
  model: StoreModel,
  timestamps: CommitTimestamps,
  source: string | null,
): SqliteTransaction {
  const court = { connection, model, counters: counters(connection), source };
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
  const stored = <T>(resource: string, found: (records: TableWriter) => T, nothing: T): T =>
    model.stores(resource) ? found(table(resource)) : nothing;
  return {
    model,
    timestamps,
    source,
    ledger: sqliteLedgerWriter(connection),
    find: async (resource, keys) => stored(resource, (records) => records.find(keys), new Map()),
    all: async (resource) => stored(resource, (records) => records.all(), []),
    children: async (resource, parentResource, parents) =>
      stored(resource, (records) => records.children(parentResource, parents), new Map()),
    load: async (resource, rows) => table(resource).load(rows),
    faulty: async (resource, keys) => {
      if (!model.stores(resource) || keys.length === 0) return new Set();
      const asker = askerOf(connection, model);
      const { faults } = await findRowFaults(asker, model.layout(resource), { kind: 'keys', keys });
      return new Set(faults.map(({ key }) => key));
    },
    rewrite: async (resource, keys) => {
      const stampOf = (key: string): string => timestamps.of(resource, [...keys, key])(key);
      const { put, remove } = table(resource);
      return rewriteRows(askerOf(connection, model), model.layout(resource), keys, stampOf, {
        put,
        remove: (rows) => remove(rows, deletedAt(resource, rows)),
      });
    },
    put: async (resource, rows) => (rows.length === 0 ? undefined : table(resource).put(rows)),
    restamp: async (resource, rows) => table(resource).restamp(rows),
    stampedAfter: async (resource, field, moment, limit) =>
      stored(resource, (records) => records.stampedAfter(field, moment, limit), []),
    tombstonesAfter: async (moment, limit) => tombstonesAfter(connection, moment, limit),
    restampTombstones: async (moved) => restampTombstones(connection, moved),
    remove: async (resource, rows) =>
      rows.length === 0 ? undefined : table(resource).remove(rows, deletedAt(resource, rows)),
    valuesChanged: async () => court.counters.valuesChanged(),
    valuesInUse: async () => court.counters.valuesInUse(),
    renew: async (resource) => table(resource).renew(),
    judge(concerns) {
      judgeAll(court, concerns);
      court.counters.flush();
    },
  };
}
