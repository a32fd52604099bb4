/**
 * What a check asks of one resource, once for every engine. It says nothing of a resource that the store does not have. It
 * knows nothing of what lies beneath the records.
 */
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { Asker } from './asker.ts';
import {
  type CheckedRows,
  type FaultPage,
  findRowFaults,
  placeAfter,
  type RowFaults,
  type RowPlace,
} from './row-faults.ts';
import { findTableFaults } from './table-faults.ts';

export interface Checks {
  /** Rows of a resource that do not say one thing everywhere (row-faults.ts). */
  rowFaults(resource: string, rows: CheckedRows): Promise<FaultPage>;
  /** The place of the last of so many rows after another place; undefined where there are not so many. */
  rowAfter(resource: string, after: RowPlace | undefined, limit: number): Promise<RowPlace | undefined>;
  /** What is kept beside the rows of a resource and does not agree with them (table-faults.ts). */
  tableFaults(resource: string): Promise<readonly RowFaults[]>;
}

/** The checks of a store, on one of its connections; of its views the engine tells by itself. */
export function checksOn<T>(asker: Asker<T>): Checks {
  const { model } = asker.planner;
  const layoutOf = (resource: string): ResourceLayout | undefined =>
    model.stores(resource) ? model.layout(resource) : undefined;
  return {
    async rowFaults(resource, rows) {
      const layout = layoutOf(resource);
      return layout === undefined ? { rows: 0, read: 0, faults: [] } : findRowFaults(asker, layout, rows);
    },
    async rowAfter(resource, after, limit) {
      const layout = layoutOf(resource);
      return layout && placeAfter(asker, layout, after, limit);
    },
    async tableFaults(resource) {
      const layout = layoutOf(resource);
      return layout === undefined ? [] : findTableFaults(asker, layout);
    },
  };
}
