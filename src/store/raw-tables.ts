/**
 * The tables of a store as they are, without regard to records and roles: for copies between engines, and for backups
 * of a server's store, which are files. Every engine has the same tables with the same columns.
 */

import type { ColumnKind } from '../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../compile/fragment.ts';
import type { StoreModel } from '../compile/model.ts';
import type { OnProgress } from './check/checks.ts';
import { LOGGED, namesOf } from './meta.ts';
import { OWN_TABLES } from './own-tables.ts';
import type { Session } from './session.ts';

/** A value in a row of any engine; truth values are 1 and 0. */
type RawValue = string | number | null;

/** The columns of a table in their order, with their kinds: no declaration has those of dropped fields. */
export type Columns = ReadonlyMap<string, ColumnKind>;

/** A table of a store, which has the same name and the same columns in every engine. */
export interface RawTable {
  readonly name: string;
  /** The columns of its primary key, in order. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly kinds: Columns;
}

export type RawRow = readonly RawValue[];

/** Reads rows in key order, after a given one. */
export type ReadRows = (
  table: RawTable,
  after: RawRow | undefined,
  limit: number,
) => Promise<readonly RawRow[]>;

/** A whole store on one snapshot. */
export interface RawSource {
  readonly model: StoreModel;
  readonly tables: readonly RawTable[];
  readonly rows: ReadRows;
}

/** A store that is being created, by this process only. */
export interface RawTarget {
  /** Creates those tables and columns that are missing. The store is not valid until `finish`. */
  prepare(model: StoreModel, tables: readonly RawTable[]): Promise<void>;
  readonly rows: ReadRows;
  /** Deletes rows by key and inserts rows, in one transaction. */
  change(table: RawTable, gone: readonly RawRow[], put: readonly RawRow[]): Promise<void>;
  /** Creates the views, and marks the store as complete. */
  finish(model: StoreModel): Promise<void>;
}

/** The tables of a store as they are, without regard to records and roles: for copies between engines. */
export interface RawTables {
  /** For messages; without a password. */
  readonly name: string;
  /** Whether there is a complete store. */
  readonly whole: boolean;
  /** Reads on one snapshot, whatever is written meanwhile. */
  read<T>(work: (there: RawSource) => Promise<T>): Promise<T>;
  /** Writes where there is no store. @throws PlatError when another process does so as well */
  fill<T>(work: (there: RawTarget) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The tables of a store. @param columnsOf the columns of a table; none for one that does not exist */
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

/** Rows that concern only one engine are not copied. */
const OWN_META = [
  'layout',
  'oldest_reader',
  'oldest_writer',
  'partitions',
  'functions',
  'changes',
  LOGGED,
  'file',
  ...namesOf('timeline', 'serverStart'),
];

const listed = (columns: readonly string[]): Sql => join(columns.map(name), ', ');

const cellOf = (raw: unknown): RawValue => {
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

/** Writes a backup of a store that is not a file: a new file with a copy of its tables. */
export type WriteBackup = (
  file: string,
  from: RawTables,
  options: {
    /** The store's name for messages. */
    readonly source: string;
    readonly onProgress?: OnProgress | undefined;
  },
) => Promise<void>;
