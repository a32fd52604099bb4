/** A part of a check as data: it runs on the main thread or beside it, and means the same there. */
import {
  type CheckedRows,
  type FaultPage,
  findRowFaults,
  placeAfter,
  type RowFaults,
  type RowPlace,
} from '../check/row-faults.ts';
import { findTableFaults } from '../check/table-faults.ts';
import type { StoreModel } from '../model.ts';
import { askerOf } from './asker.ts';
import type { Connection } from './connection.ts';
import { readSnapshotModel } from './meta.ts';
import { findViewFaults } from './views.ts';

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
    return { kind: 'check', found: await runCheck(connection, model, resource, wanted) };
  };
}

/** @returns nothing wrong where the store has no such resource */
export async function runCheck(
  connection: Connection,
  model: StoreModel,
  resource: string,
  wanted: Wanted,
): Promise<Found> {
  const { kind } = wanted;
  const asker = askerOf(connection, model);
  const layout = model.stores(resource) ? model.layout(resource) : undefined;
  switch (kind) {
    case 'row-faults': {
      const nothing = { rows: 0, read: 0, faults: [] };
      return { kind, page: layout === undefined ? nothing : await findRowFaults(asker, layout, wanted.rows) };
    }
    case 'row-place': {
      const { after, limit } = wanted;
      return { kind, place: layout && (await placeAfter(asker, layout, after, limit)) };
    }
    case 'table-faults': {
      if (layout === undefined) return { kind, faults: [] };
      const faults = await findTableFaults(asker, layout);
      return { kind, faults: [...faults, ...findViewFaults(connection.database, model, layout)] };
    }
  }
}
