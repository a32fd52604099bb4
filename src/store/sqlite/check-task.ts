/** A check of rows as data, which a thread runs beside the one that asks for it. */
import { type CheckedRows, type FaultPage, findRowFaults } from '../check/row-faults.ts';
import type { StoreModel } from '../model.ts';
import { askerOf } from './asker.ts';
import type { Connection } from './connection.ts';
import { readSnapshotModel } from './meta.ts';

export interface CheckTask {
  readonly kind: 'faults';
  readonly resource: string;
  readonly rows: CheckedRows;
  /** Of the model by which the rows are to be checked, or of a newer one. */
  readonly generation: number;
}

export interface CheckResult {
  readonly kind: 'faults';
  readonly page: FaultPage;
}

export type Checker = (task: CheckTask) => Promise<CheckResult>;

/** Runs checks on a connection; keeps the model that the last one was made by. */
export function checkerOn(connection: Connection): Checker {
  let model: StoreModel | undefined;
  return async ({ resource, rows, generation }) => {
    if (model === undefined || model.generation < generation) model = readSnapshotModel(connection.database);
    const page = model.stores(resource)
      ? await findRowFaults(askerOf(connection, model), model.layout(resource), rows)
      : { rows: 0, read: 0, faults: [] };
    return { kind: 'faults', page };
  };
}
