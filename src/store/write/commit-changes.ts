/**
 * Commits what a replica fetched from its source, with the part of the checkpoint that covers it: a change in as many transactions as
 * it needs, or several changes in one. This module does not know how a source is read.
 */
import type { StoreModel } from '../../compile/model.ts';
import { jsonOf } from '../../records/nesting.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { recordName } from '../../records/record-name.ts';
import { withParentFields } from '../../records/record-parent.ts';
import {
  type ChangeSource,
  ChangesRolledBack,
  type CheckpointChange,
  type Fits,
  type JoinableChange,
  type Keys,
  type Lease,
  type QuarantineEntry,
} from '../checkpoint/checkpoints.ts';
import {
  type BatchOptions,
  type BatchWriter,
  removeInBatches,
  type Written,
  weightOf,
  withUntrustedHashes,
  writeBatch,
  writeInBatches,
} from './batches.ts';
import type { OwnQueue } from './own-writes.ts';
import type { TransactionSize } from './pace.ts';
import { newFieldsInUse, prepareRecord } from './prepare.ts';
import { addReports, emptyTally, type Rejection, type WriteReport } from './report.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * Stores what a replica fetched from its source, and its checkpoint. The checkpoint is written in the transaction of
 * the last records, so that it never claims more than what is stored, even if the process is killed. Rejected records
 * go to the quarantine in the transaction that would have stored them.
 * @throws LeaseLost if another process has taken over
 */
export async function commitChange(
  writer: BatchWriter,
  current: StoreModel,
  source: string,
  change: CheckpointChange,
): Promise<Written> {
  const { records = [], remove = [], lease, ignoresHashes = false, ...checkpoint } = change;
  const begin = renewal(source, lease);
  const shared = { source, ignoresHashes, begin };
  let model = current;
  let report: WriteReport = emptyTally('');
  const add = (written: Written): WriteReport => {
    ({ model } = written);
    report = addReports(report, written.report);
    return written.report;
  };
  const left: QuarantineEntry[] = [];
  for (const { resource, keys } of remove) {
    const { rejected } = add(await removeInBatches(writer, model, resource, keys, shared));
    for (const each of rejected) left.push({ ...each, payload: 'null' });
  }
  const groups = records.length === 0 ? [{ resource: '', records: [] }] : records;
  for (const [at, { resource, records: group }] of groups.entries()) {
    const finish: BatchOptions['finish'] = ({ checkpoints, timestamps }, { rejected }) => {
      const own = quarantineEntries(rejected, group);
      if (at < groups.length - 1) return checkpoints.apply(source, { quarantine: own }, timestamps.moment);
      const quarantine = [...(checkpoint.quarantine ?? []), ...left, ...own];
      const release = withoutRejected(checkpoint.release ?? [], [...quarantine, ...report.rejected]);
      return checkpoints.apply(source, { ...checkpoint, quarantine, release }, timestamps.moment);
    };
    add(await writeInBatches(writer, model, resource, group, { ...shared, finish }));
  }
  return { report, model };
}

/** Renews a lease at the beginning of a transaction. */
const renewal = (source: string, lease: Lease | undefined): BatchOptions['begin'] =>
  lease && (({ checkpoints }) => checkpoints.renewLease(source, lease));

/** Changes that are committed in one transaction. */
interface Together {
  readonly source: string;
  readonly lease: Lease | undefined;
  readonly changes: ChangeSource;
  readonly queue: OwnQueue;
}

/**
 * Stores changes of a source in one transaction, each with its part of the checkpoint, as long as it has room and no other write of
 * this process waits.
 * @throws ChangesRolledBack: the changes are gone, so they cannot be divided into smaller transactions here
 */
export async function commitTogether(
  writer: BatchWriter,
  current: StoreModel,
  { source, lease, changes, queue }: Together,
): Promise<Written> {
  const { limits, pace } = writer;
  const begin = renewal(source, lease);
  let model = current;
  let count = 0;
  let size: TransactionSize = { records: 0, weight: 0 };
  const fits: Fits = (groups = []) => {
    const own = sizeOf(groups);
    return (
      own.records <= pace.records &&
      own.weight + size.weight <= pace.weight &&
      groups.every(({ records }) => newFieldsInUse(model, records).length === 0)
    );
  };
  let change = await changes.next(fits, queue.awaited);
  if (change === undefined) return { report: emptyTally(''), model };
  /** Nothing else keeps the change that is being written. */
  const take = (): JoinableChange => {
    const taken = change ?? {};
    change = undefined;
    const own = sizeOf(taken.records);
    count++;
    size = { records: size.records + own.records, weight: size.weight + own.weight };
    return taken;
  };
  const work = async (transaction: WriteTransaction): Promise<WriteReport> => {
    // The engine tries again after changes were taken, or fields of the first change are not in use any more.
    if (count > 0 || !fits(change?.records)) throw new ChangesRolledBack(Math.max(1, count));
    const begun = limits.elapsed();
    let report: WriteReport = emptyTally(transaction.timestamps.moment);
    await begin?.(transaction);
    for (let now = begun; change !== undefined; ) {
      const written = await storeChange(transaction, source, take());
      changes.written(written);
      report = addReports(report, written);
      const after = limits.elapsed();
      // Another one takes about as long.
      if (queue.isAwaited || !pace.hasRoom(size, after - begun + (after - now))) break;
      now = after;
      change = await changes.next(fits, queue.awaited);
    }
    return report;
  };
  for (;;) {
    const attempt = await writer
      .attempt(model, work, source, { ahead: 0, longest: limits.usual })
      .catch((error: unknown) => {
        if (writer.refusal(error) === undefined) throw error;
        throw new ChangesRolledBack(count);
      });
    switch (attempt.kind) {
      case 'done':
        // One change alone is as large as it is, and shows nothing about the limit.
        if (count > 1) pace.succeeded(size.records, attempt.times);
        return { report: attempt.result, model };
      case 'outdated':
        model = await writer.readModel();
        break;
      case 'too-long':
        throw new ChangesRolledBack(count);
    }
  }
}

/** Stores a change in a transaction that it has not begun. */
async function storeChange(
  transaction: WriteTransaction,
  source: string,
  { records = [], ignoresHashes = false, ...checkpoint }: JoinableChange,
): Promise<WriteReport> {
  const { checkpoints, model, timestamps } = transaction;
  const given = ignoresHashes ? withUntrustedHashes(transaction) : transaction;
  let report: WriteReport = emptyTally(timestamps.moment);
  const quarantine = [...(checkpoint.quarantine ?? [])];
  for (const { resource, records: group } of records) {
    const prepared = group.map((record) => prepareRecord(record, model));
    const written = await writeBatch(given, resource, prepared);
    quarantine.push(...quarantineEntries(written.rejected, group));
    report = addReports(report, written);
  }
  const release = withoutRejected(checkpoint.release ?? [], quarantine);
  await checkpoints.apply(source, { ...checkpoint, quarantine, release }, timestamps.moment);
  return report;
}

function sizeOf(groups: CheckpointChange['records'] = []): TransactionSize {
  const records = groups.flatMap((group) => group.records);
  return { records: records.length, weight: records.reduce((sum, record) => sum + weightOf(record), 0) };
}

/** The keys of records to release, except those that were rejected again. */
function withoutRejected(release: readonly Keys[], refused: readonly Rejection[]): readonly Keys[] {
  if (refused.length === 0) return release;
  const names = new Set(refused.map(recordName));
  return release.map(({ resource, keys }) => ({
    resource,
    keys: keys.filter((key) => !names.has(recordName({ resource, key }))),
  }));
}

/** Rejected records as the source sent them. */
function quarantineEntries(
  rejected: WriteReport['rejected'],
  records: readonly ParsedRecord[],
): readonly QuarantineEntry[] {
  if (rejected.length === 0) return [];
  const origins = new Map<string, unknown>();
  const names = new Set(rejected.map(recordName));
  const note = (record: ParsedRecord, holder?: ParsedRecord): void => {
    const { resource, key, origin, children } = record;
    const name = recordName({ resource: resource.name, key });
    if (names.has(name)) {
      const parent = holder === undefined ? undefined : { resource: holder.resource.name, key: holder.key };
      origins.set(name, parent === undefined ? origin : withParentFields(resource, origin, parent));
    }
    for (const nested of children.values()) for (const each of nested) note(each, record);
  };
  for (const record of records) note(record);
  return rejected.map(({ resource, key, reason, payload }) => {
    const origin = origins.get(recordName({ resource, key })) ?? null;
    return { resource, key, reason, payload: payload ?? jsonOf(origin) };
  });
}
