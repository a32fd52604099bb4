import type { LedgerChange } from '../ledger.ts';
import type { StoreModel } from '../model.ts';
import { addReports, type BatchWriter, removeInBatches, type Written, writeInBatches } from './batches.ts';
import { emptyTally, type WriteReport } from './report.ts';

/**
 * Stores what a replica got from its source, and the account of it. The account goes with the last records, in their
 * transaction: after a kill at any moment it never says more than what is stored. Records that are refused go to the
 * quarantine with it.
 */
export async function commitChange(
  writer: BatchWriter,
  current: StoreModel,
  source: string,
  change: LedgerChange,
): Promise<Written> {
  const { records = [], remove = [], ...account } = change;
  let model = current;
  let report: WriteReport = emptyTally('');
  for (const { resource, keys } of remove) {
    const removed = await removeInBatches(writer, model, resource, keys);
    ({ model } = removed);
    report = addReports(report, removed.report);
  }
  const last = records.at(-1);
  for (const group of records.slice(0, -1)) {
    const payloads = payloadsOf([group]);
    const written = await writeInBatches(writer, model, group.resource, group.records, {
      source,
      finish: (transaction, { rejected }) =>
        transaction.ledger.apply(source, { quarantine: refused(rejected, payloads) }, transaction.stamp),
    });
    ({ model } = written);
    report = addReports(report, written.report);
  }
  const payloads = payloadsOf(last === undefined ? [] : [last]);
  const written = await writeInBatches(writer, model, last?.resource ?? '', last?.records ?? [], {
    source,
    finish: (transaction, { rejected }) => {
      const quarantine = [...(account.quarantine ?? []), ...refused(rejected, payloads)];
      return transaction.ledger.apply(source, { ...account, quarantine }, transaction.stamp);
    },
  });
  return { report: addReports(report, written.report), model: written.model };
}

/** What the records were, for those that are refused. */
function payloadsOf(groups: NonNullable<LedgerChange['records']>): ReadonlyMap<string, string> {
  return new Map(
    groups.flatMap(({ resource, records }) =>
      records.map(({ key, values }) => [`${resource}\u0000${key}`, JSON.stringify(values)] as const),
    ),
  );
}

function refused(rejected: WriteReport['rejected'], payloads: ReadonlyMap<string, string>) {
  return rejected.map(({ resource, key, reason }) => {
    return { resource, key, reason, payload: payloads.get(`${resource}\u0000${key}`) ?? '{}' };
  });
}
