/**
 * The tables of a store as they are, beneath records and roles: for copies from one engine to another, and for backups
 * of a server's store, which are files. Every engine has the same tables with the same columns.
 */
import type { ColumnKind } from '../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../compile/fragment.ts';
import type { StoreModel } from '../compile/model.ts';
import { OWN_TABLES } from './own-tables.ts';
import type { Session } from './session.ts';

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

/** The tables of a store. @param columnsOf the columns of a table; none where there is no such table */
export function rawTables(model: StoreModel, columnsOf: (table: string) => Columns | undefined): RawTable[] {
  const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
  const records = layouts.flatMap(({ columnsTable, textsTable }) => [columnsTable, textsTable]);
  const keys = new Map<string, readonly string[]>(OWN_TABLES.map(({ name: own, key }) => [own, key]));
  for (const table of records) keys.set(table, ['_key']);
  return [...keys].map(([table, key]) => {
    const kinds = columnsOf(table) ?? new Map();
    return { name: table, key, columns: [...new Set([...key, ...kinds.keys()])], kinds };
  });
}

/** What an engine alone says of its tables stays behind. */
const OWN_META = ['layout', 'oldest_reader', 'oldest_writer', 'partitions', 'functions', 'changes', 'file'];

const listed = (columns: readonly string[]): Sql => join(columns.map(name), ', ');

const cellOf = (raw: unknown): Cell => {
  if (typeof raw === 'boolean') return Number(raw);
  return typeof raw === 'string' || typeof raw === 'number' ? raw : null;
};

export const rowsOn =
  (session: Session): ReadRows =>
  async ({ name: table, key, columns }, after, limit) => {
    const stays = sql`name NOT IN (${join(OWN_META.map(bind), ', ')})`;
    const kept = table === 'plat_meta' ? stays : sql`TRUE`;
    const beyond = after === undefined ? sql`TRUE` : sql`(${listed(key)}) > (${join(after.map(bind), ', ')})`;
    const rows = await session.rows(sql`SELECT ${listed(columns)} FROM ${name(table)}
      WHERE ${kept} AND ${beyond} ORDER BY ${listed(key)} LIMIT ${integer(limit)}`);
    return rows.map((row) => columns.map((column) => cellOf(row[column])));
  };

/** Deletes rows by their keys. */
export async function deleteRows(
  { run, dialect }: Session,
  { name: table, key, kinds }: RawTable,
  gone: readonly RawRow[],
): Promise<void> {
  if (gone.length === 0) return;
  const keys = gone.map((row) => Object.fromEntries(key.map((column, at) => [column, row[at] ?? null])));
  const columns = new Map(key.map((column) => [column, kinds.get(column) ?? 'text'] as const));
  const these = dialect.rowsOf(bind(JSON.stringify(keys)), 'v', columns);
  await run(sql`DELETE FROM ${name(table)} WHERE (${listed(key)}) IN (SELECT ${listed(key)} FROM ${these})`);
}

/** Writes a backup of a store that is no file: a new file with a copy of its tables. */
export type WriteBackup = (
  file: string,
  from: RawTables,
  options: {
    /** Of the store, for messages. */
    readonly source: string;
    readonly told?: ((resource: string, rows: number) => void) | undefined;
  },
) => Promise<void>;
