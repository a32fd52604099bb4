import type { ColumnKind } from '../compile/column-value.ts';
import type { StoreModel } from '../compile/model.ts';
import { OWN_TABLES } from './own-tables.ts';

/** A value of a row, in whatever engine; truth values are 1 and 0. */
export type Cell = string | number | null;

/** The columns of a table in their order, with what they hold: no declaration tells it of fields that were dropped. */
export type Columns = ReadonlyMap<string, ColumnKind>;

/** A table of a store, which has the same name and the same columns in every engine. */
export interface RawTable {
  readonly name: string;
  /** Columns by which its rows are told apart and stand in order. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly kinds: Columns;
}

export type RawRow = readonly Cell[];

/** Reads rows in the order of their keys, after one of them, with the columns of the table. */
export type ReadRows = (
  table: RawTable,
  after: RawRow | undefined,
  limit: number,
) => Promise<readonly RawRow[]>;

/** A whole store, all of one moment. */
export interface RawSource {
  readonly model: StoreModel;
  readonly tables: readonly RawTable[];
  readonly rows: ReadRows;
}

/** A store that is being made, by nobody else. */
export interface RawTarget {
  /** Makes what tables and columns of these there are not. The store is no store until `finish`. */
  prepare(model: StoreModel, tables: readonly RawTable[]): Promise<void>;
  readonly rows: ReadRows;
  /** Deletes rows by their keys, and puts rows in, in one transaction. */
  change(table: RawTable, gone: readonly RawRow[], put: readonly RawRow[]): Promise<void>;
  /** Views, and the mark that a whole store lies here. */
  finish(model: StoreModel): Promise<void>;
}

/** The tables of a store as they are, beneath records and roles: for copies from one engine to another. */
export interface RawTables {
  /** For messages; without passwords. */
  readonly name: string;
  /** Whether a whole store lies there. */
  readonly whole: boolean;
  /** Reads on one snapshot, whatever is written meanwhile. */
  read<T>(work: (there: RawSource) => Promise<T>): Promise<T>;
  /** Writes where no store lies. @throws PlatError when another process does so */
  fill<T>(work: (there: RawTarget) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Names of the tables of a store, with the columns of their keys. */
export function tableKeys(model: StoreModel): ReadonlyMap<string, readonly string[]> {
  const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
  const records = layouts.flatMap(({ columnsTable, textsTable }) => [columnsTable, textsTable]);
  return new Map([
    ...OWN_TABLES.map(({ name, key }) => [name, key] as const),
    ...records.map((name) => [name, ['_key']] as const),
  ]);
}

/** What an engine alone says of its tables stays behind. */
export const OWN_META = [
  'layout',
  'oldest_reader',
  'oldest_writer',
  'partitions',
  'functions',
  'changes',
  'file',
];
