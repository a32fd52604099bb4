/**
 * The tables of a store as they are, regardless of records and roles: for copies between engines, and for backups of a store on a
 * server, which are files. Every engine has the same tables with the same columns.
 */
import type { ColumnKind } from '../../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { insertSearchRows } from '../../compile/layout/search-table.ts';
import type { StoredKind } from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { OnProgress } from '../check/checks.ts';
import type { Session } from '../session.ts';
import { LOGGED_CHANGES, namesOf, readModel } from '../state/meta.ts';
import { OWN_TABLES } from '../state/own-tables.ts';
import { withTranslatedErrors } from '../state/watched.ts';

/** A value in a row of any engine; truth values are 1 and 0. */
type RawValue = string | number | null;

/** The columns of a table in order, with their kinds. They include those of dropped fields, which no declaration lists. */
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
  /** Creates missing tables and columns. The store is not valid until `finish`. */
  prepare(model: StoreModel, tables: readonly RawTable[]): Promise<void>;
  readonly rows: ReadRows;
  /** Deletes rows by key and inserts rows, in one transaction. */
  change(table: RawTable, gone: readonly RawRow[], put: readonly RawRow[]): Promise<void>;
  /** Creates the views, and marks the store as complete. */
  finish(model: StoreModel): Promise<void>;
}

/** The tables of a store as they are, regardless of records and roles: for copies between engines. */
export interface RawTables {
  /** For messages; without a password. */
  readonly name: string;
  /** Whether there is a complete store. */
  readonly whole: boolean;
  /** Reads on one snapshot, regardless of concurrent writes. */
  read<T>(work: (there: RawSource) => Promise<T>): Promise<T>;
  /** Writes where there is no store yet. @throws PlatError if another process does so as well */
  fill<T>(work: (there: RawTarget) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Returns the columns of a table; none, or undefined, for one that does not exist. */
export type ColumnsOf = (table: string) => Columns | undefined;

/** What an engine provides for a copy of its tables. */
interface TablesEngine<S extends Session> extends Pick<RawTables, 'name' | 'whole' | 'close'> {
  /** The column type that the engine declares for each kind. */
  readonly types: Readonly<Record<StoredKind, string>>;
  /** Runs `work` on a connection. @param isAlone whether to lock out other copies to the same address in the meantime */
  use<T>(work: (session: S) => Promise<T>, isAlone: boolean): Promise<T>;
  /** Runs `work` in a transaction, which reads one snapshot or writes. */
  transaction<T>(session: S, kind: 'read' | 'write', work: () => Promise<T>): Promise<T>;
  columns(session: S): Promise<ColumnsOf>;
  /** Whether a complete store exists now; another process may have created it in the meantime. */
  isWhole(session: S): Promise<boolean>;
  /** Creates plat's own tables and those of the records. @throws PlatError `storeNotOurs` if there are other tables */
  prepare(session: S, model: StoreModel): Promise<void>;
  /** Called before the transaction that stores records of these systems. */
  beforeRows?(session: S, systems: readonly string[]): Promise<void>;
  insert(session: S, table: RawTable, rows: readonly RawRow[]): Promise<void>;
  /** Creates what depends on the tables, such as the views. */
  complete(session: S, model: StoreModel): Promise<void>;
  /** Marks the store as complete. */
  mark(session: S): Promise<void>;
  explain(error: unknown): unknown;
}

/** A copy never replaces a store. */
export const storeExistsError = (store: string): PlatError =>
  platError('usage', { reason: `A store already exists at ${store}.` });

/** The tables of a store on an engine. */
export function tablesOn<S extends Session>(engine: TablesEngine<S>): RawTables {
  const { name, whole } = engine;
  const target = (session: S): RawTarget => ({
    rows: rowsOn(session),
    prepare: (model, tables) =>
      engine.transaction(session, 'write', async () => {
        if (await engine.isWhole(session)) throw storeExistsError(name);
        await engine.prepare(session, model);
        await addColumns(session, engine.types, tables, await engine.columns(session));
      }),
    async change(table, gone, put) {
      await engine.beforeRows?.(session, systemsOf(table, put));
      await engine.transaction(session, 'write', async () => {
        await deleteRows(session, table, gone);
        if (put.length > 0) await engine.insert(session, table, put);
      });
    },
    finish: (model) =>
      engine.transaction(session, 'write', async () => {
        await engine.complete(session, model);
        await fillSearchTables(session, model);
        await engine.mark(session);
      }),
  });
  const tables: RawTables = {
    name,
    whole,
    read: (work) =>
      engine.use(
        (session) =>
          engine.transaction(session, 'read', async () => {
            const model = await readModel(session);
            const tables = rawTables(model, await engine.columns(session));
            return await work({ model, tables, rows: rowsOn(session) });
          }),
        false,
      ),
    fill: (work) => engine.use((session) => work(target(session)), true),
    close: () => engine.close(),
  };
  return withTranslatedErrors(tables, (error) => engine.explain(error));
}

/** Adds missing columns, including those of fields that are no longer declared, whose values return if the fields do. */
async function addColumns(
  { run }: Session,
  types: TablesEngine<Session>['types'],
  tables: readonly RawTable[],
  columnsOf: ColumnsOf,
): Promise<void> {
  for (const { name: table, kinds } of tables) {
    const known = columnsOf(table);
    for (const [column, kind] of kinds) {
      if (known?.has(column)) continue;
      await run(sql`ALTER TABLE ${name(table)} ADD ${name(column)} ${{ parts: [types[kind]] }}`);
    }
  }
}

/** The originating systems of rows. */
function systemsOf({ columns }: RawTable, rows: readonly RawRow[]): string[] {
  const place = columns.indexOf('_system');
  return rows.flatMap((row) => (typeof row[place] === 'string' ? [row[place]] : []));
}

/** Writes the search rows of all records. */
async function fillSearchTables({ run }: Session, model: StoreModel): Promise<void> {
  for (const { search, columnsTable } of storedLayouts(model)) {
    if (search === undefined) continue;
    await run(sql`DELETE FROM ${name(search.table)}`);
    await run(insertSearchRows(search, columnsTable, sql`TRUE`));
  }
}

function rawTables(model: StoreModel, columnsOf: ColumnsOf): RawTable[] {
  const records = storedLayouts(model).flatMap(({ columnsTable, textsTable }) => [columnsTable, textsTable]);
  const keys = new Map<string, readonly string[]>(OWN_TABLES.map(({ name: own, key }) => [own, key]));
  for (const table of records) keys.set(table, ['_key']);
  return [...keys].map(([table, key]) => {
    const kinds = columnsOf(table) ?? new Map();
    return { name: table, key, columns: [...new Set([...key, ...kinds.keys()])], kinds };
  });
}

/** Rows that concern only one engine are not copied. */
const UNCOPIED_META = [
  LOGGED_CHANGES,
  ...namesOf('layout', 'oldestReader', 'oldestWriter', 'partitions', 'functions', 'changes'),
  ...namesOf('file', 'timeline', 'serverStart'),
];

const listed = (columns: readonly string[]): Sql => join(columns.map(name), ', ');

const rawValueOf = (raw: unknown): RawValue => {
  if (typeof raw === 'boolean') return Number(raw);
  return typeof raw === 'string' || typeof raw === 'number' ? raw : null;
};

const rowsOn =
  (session: Session): ReadRows =>
  async ({ name: table, key, columns }, after, limit) => {
    const stays = sql`name NOT IN (${join(UNCOPIED_META.map(bind), ', ')})`;
    const kept = table === 'plat_meta' ? stays : sql`TRUE`;
    const beyond = after === undefined ? sql`TRUE` : sql`(${listed(key)}) > (${join(after.map(bind), ', ')})`;
    const rows = await session.rows(sql`SELECT ${listed(columns)} FROM ${name(table)}
      WHERE ${kept} AND ${beyond} ORDER BY ${listed(key)} LIMIT ${integer(limit)}`);
    return rows.map((row) => columns.map((column) => rawValueOf(row[column])));
  };

/** Deletes rows by their keys. */
async function deleteRows(
  { run, dialect }: Session,
  { name: table, key, kinds }: RawTable,
  gone: readonly RawRow[],
): Promise<void> {
  if (gone.length === 0) return;
  const keys = gone.map((row) => Object.fromEntries(key.map((column, at) => [column, row[at] ?? null])));
  const columns = new Map(key.map((column) => [column, kinds.get(column) ?? 'text'] as const));
  const these = dialect.objectTable(bind(JSON.stringify(keys)), 'v', columns);
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
