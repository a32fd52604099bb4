import type { StoreModel } from '../../compile/model.ts';
import { jsonOf } from '../../records/nesting.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { withParentFields } from '../../records/place.ts';
import type { CheckpointChange, Keys, QuarantineEntry } from '../checkpoint/checkpoints.ts';
import {
  addReports,
  type BatchOptions,
  type BatchWriter,
  removeInBatches,
  type Written,
  writeInBatches,
} from './batches.ts';
import { emptyTally, type Rejection, type WriteReport } from './report.ts';

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
  const begin: BatchOptions['begin'] =
    lease === undefined ? undefined : ({ checkpoints }) => checkpoints.renewLease(source, lease);
  const shared = { source, ignoresHashes, ...(begin === undefined ? {} : { begin }) };
  let model = current;
  let report: WriteReport = emptyTally('');
  const left: QuarantineEntry[] = [];
  for (const { resource, keys } of remove) {
    const removed = await removeInBatches(writer, model, resource, keys, shared);
    ({ model } = removed);
    report = addReports(report, removed.report);
    for (const each of removed.report.rejected) left.push({ ...each, payload: 'null' });
  }
  for (const { resource, records: group } of records.slice(0, -1)) {
    const written = await writeInBatches(writer, model, resource, group, {
      ...shared,
      finish: ({ checkpoints, timestamps }, { rejected }) =>
        checkpoints.apply(source, { quarantine: quarantineEntries(rejected, group) }, timestamps.moment),
    });
    ({ model } = written);
    report = addReports(report, written.report);
  }
  const { resource, records: group } = records.at(-1) ?? { resource: '', records: [] };
  const written = await writeInBatches(writer, model, resource, group, {
    ...shared,
    finish: ({ checkpoints, timestamps }, { rejected }) => {
      const quarantine = [...(checkpoint.quarantine ?? []), ...left, ...quarantineEntries(rejected, group)];
      const release = withoutRejected(checkpoint.release ?? [], [...quarantine, ...report.rejected]);
      return checkpoints.apply(source, { ...checkpoint, quarantine, release }, timestamps.moment);
    },
  });
  return { report: addReports(report, written.report), model: written.model };
}

/** The keys of records to release, except those that were rejected again. */
function withoutRejected(release: readonly Keys[], refused: readonly Rejection[]): readonly Keys[] {
  if (refused.length === 0) return release;
  const names = new Set(refused.map(({ resource, key }) => `${resource} ${key}`));
  return release.map(({ resource, keys }) => ({
    resource,
    keys: keys.filter((key) => !names.has(`${resource} ${key}`)),
  }));
}

/** Rejected records as the source sent them. */
function quarantineEntries(
  rejected: WriteReport['rejected'],
  records: readonly ParsedRecord[],
): readonly QuarantineEntry[] {
  if (rejected.length === 0) return [];
  const nameOf = (resource: string, key: string): string => `${resource}\u0000${key}`;
  const origins = new Map<string, unknown>();
  const names = new Set(rejected.map(({ resource, key }) => nameOf(resource, key)));
  const note = (record: ParsedRecord, holder?: ParsedRecord): void => {
    const { resource, key, origin, children } = record;
    const name = nameOf(resource.name, key);
    if (names.has(name)) {
      const parent = holder === undefined ? undefined : { resource: holder.resource.name, key: holder.key };
      origins.set(name, parent === undefined ? origin : withParentFields(resource, origin, parent));
    }
    for (const nested of children.values()) for (const each of nested) note(each, record);
  };
  for (const record of records) note(record);
  return rejected.map(({ resource, key, reason, payload }) => {
    const origin = origins.get(nameOf(resource, key)) ?? null;
    return { resource, key, reason, payload: payload ?? jsonOf(origin) };
  });
}
