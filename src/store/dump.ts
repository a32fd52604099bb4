import type { StoreModel } from '../compile/model.ts';
import type { Columns } from './raw-tables.ts';

/** A value of a row, in whatever engine. */
export type Cell = string | number | boolean | null;

/** Rows of one table, some at a time. */
export interface DumpedRows {
  readonly table: string;
  readonly columns: Columns;
  /** Their values, in the order of the columns. */
  readonly rows: readonly (readonly Cell[])[];
}

/** A whole store as its tables hold it, all of one moment. Tables and columns have the same names in both engines. */
export interface StoreDump {
  readonly model: StoreModel;
  /** The rows of all tables, of each one after the other. */
  readonly rows: AsyncIterable<DumpedRows>;
}

/** Writes a whole store to a new file, in the form of the embedded engine. */
export type WriteBackup = (
  file: string,
  dump: StoreDump,
  options: {
    /** Of the store, for messages. */
    readonly source: string;
    readonly told?: ((resource: string, rows: number) => void) | undefined;
  },
) => Promise<void>;

/** The tables of plat's own that go from one engine to the other, and what stays behind of `plat_meta`. */
export const DUMPED_TABLES = [
  'plat_meta',
  'plat_profile',
  'plat_sequence',
  'plat_counters',
  'plat_tombstones',
  'plat_keys',
  'plat_key_use',
  'plat_ledger_state',
  'plat_ledger_seen',
  'plat_ledger_wanted',
  'plat_quarantine',
  'plat_leases',
] as const;
