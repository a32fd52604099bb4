/** A part of a check as data: it runs on the main thread or beside it, and means the same there. */

import type { StoreModel } from '../../compile/model.ts';
import type { Checks } from '../../store/check/checks.ts';
import type { CheckedRows, FaultPage, RowFaults, RowPlace } from '../../store/check/row-faults.ts';
import { sqliteChecks } from './checks.ts';
import type { Connection } from './connection.ts';
import { readSnapshotModel } from './meta.ts';

export interface CheckTask {
  readonly kind: 'check';
  readonly resource: string;
  /** Of the model by which the check is to be made, or of a newer one. */
  readonly generation: number;
  readonly wanted: Wanted;
}

export type Wanted =
  | { readonly kind: 'row-faults'; readonly rows: CheckedRows }
  | { readonly kind: 'row-place'; readonly after: RowPlace | undefined; readonly limit: number }
  | { readonly kind: 'table-faults' };

export interface CheckResult {
  readonly kind: 'check';
  readonly found: Found;
}

export type Found =
  | { readonly kind: 'row-faults'; readonly page: FaultPage }
  | { readonly kind: 'row-place'; readonly place: RowPlace | undefined }
  | { readonly kind: 'table-faults'; readonly faults: readonly RowFaults[] };

export type Checker = (task: CheckTask) => Promise<CheckResult>;

/** Runs checks on a connection; keeps the model that the last one was made by. */
export function checkerOn(connection: Connection): Checker {
  let model: StoreModel | undefined;
  return async ({ resource, generation, wanted }) => {
    if (model === undefined || model.generation < generation) model = readSnapshotModel(connection.database);
    return { kind: 'check', found: await runCheck(sqliteChecks(connection, model), resource, wanted) };
  };
}

export async function runCheck(checks: Checks, resource: string, wanted: Wanted): Promise<Found> {
  const { kind } = wanted;
  switch (kind) {
    case 'row-faults':
      return { kind, page: await checks.rowFaults(resource, wanted.rows) };
    case 'row-place':
      return { kind, place: await checks.rowAfter(resource, wanted.after, wanted.limit) };
    case 'table-faults':
      return { kind, faults: await checks.tableFaults(resource) };
  }
}
