/**
 * Copies the tables of a store to another engine as they are, regardless of records and roles. A backup of a store on a server is
 * such a copy, into a file. Every engine has the same tables with the same columns.
 */
import type { ColumnKind } from '../../compile/column-value.ts';
import { bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { insertSearchRows } from '../../compile/layout/search-table.ts';
import type { StoredKind } from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import { failedError, type PlatError, platError, usageError } from '../../errors/index.ts';
import type { OnProgress } from '../check/checks.ts';
import { withTranslatedErrors } from '../explain.ts';
import type { Session } from '../session.ts';
import { LOGGED_CHANGES, namesOf, readModel } from '../state/meta.ts';
import { OWN_TABLES } from '../state/own-tables.ts';

/** The outcome of a copy. */
interface CopyReport {
  readonly tables: number;
  readonly rows: number;
  /** The number of written rows; fewer than all if an earlier copy was interrupted. */
  readonly written: number;
  readonly removed: number;
  /** Webhooks that send nothing from the copy until an operator resumes them. */
  readonly paused: number;
}

/** The number of rows that are compared at once. */
const ROWS = 500;

/**
 * The first pass makes both sides equal, and the second one proves it. If the third one still finds a difference, the copy fails.
 */
const PASSES = 3;

/**
 * Makes the store at `to` equal to the one at `from`, table by table in key order: writes the rows that are missing or different,
 * and removes extra rows. An interrupted copy therefore continues where it stopped, and the last pass, which has nothing to
 * change, proves that both are equal. The source is read on one snapshot, and may be served and written to in the meantime.
 * @param onProgress called after each step with the rows that were compared
 * @param once one pass is enough, because the copy is checked as a whole afterwards
 * @throws PlatError `storeMissing`; `usage` if another store is at `to`; `failed` if rows do not stay as written
 */
export async function copyStore(
  from: RawTables,
  to: RawTables,
  onProgress: (table: string, rows: number) => void,
  once = false,
): Promise<CopyReport> {
  if (!from.whole) throw platError('storeMissing', { store: from.name });
  if (to.whole) throw storeExistsError(to.name);
  return from.read((source) =>
    to.fill((target) => copyTables(source, target, { name: to.name, onProgress, once })),
  );
}

interface CopyOptions {
  readonly name: string;
  readonly onProgress: (table: string, rows: number) => void;
  readonly once: boolean;
}

async function copyTables(
  source: RawSource,
  target: RawTarget,
  { name, onProgress, once }: CopyOptions,
): Promise<CopyReport> {
  const { model, tables } = source;
  await target.prepare(model, tables);
  let written = 0;
  let removed = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    let rows = 0;
    let differences = 0;
    for (const table of tables) {
      for await (const step of copyTable(source, target, table)) {
        rows += step.rows;
        written += step.written;
        removed += step.removed;
        differences += step.written + step.removed;
        onProgress(table.name, rows);
      }
    }
    if (differences > 0 && !once) continue;
    const paused = await pauseWebhooks(target, tables);
    await target.finish(model);
    return { tables: tables.length, rows, written, removed, paused };
  }
  throw failedError(`Data written to ${name} does not stay unchanged.`);
}

const COPY_PAUSE_REASON =
  'the store is a copy: resume it when no process of the original store sends any more';

/** Two stores with the same webhooks would send the same events twice, and later different ones. @returns how many it paused */
async function pauseWebhooks(target: RawTarget, tables: readonly RawTable[]): Promise<number> {
  const table = tables.find(({ name }) => name === 'plat_webhooks');
  if (table === undefined) return 0;
  const { columns, key } = table;
  const changed = (column: string | undefined, cell: RawRow[number]): RawRow[number] => {
    if (column === 'paused') return COPY_PAUSE_REASON;
    return column === 'holder' || column === 'held_until' ? null : cell;
  };
  const sending = (await rowsUpTo(target, table, undefined, undefined)).filter(
    (row) => (row[columns.indexOf('paused')] ?? null) === null,
  );
  const paused = sending.map((row) => row.map((cell, at) => changed(columns[at], cell)));
  await target.change(
    table,
    sending.map((row) => row.slice(0, key.length)),
    paused,
  );
  return paused.length;
}

type Step = Pick<CopyReport, 'rows' | 'written' | 'removed'>;

/** Walks both sides of a table in key order, and changes the second one. */
async function* copyTable(from: RawSource, to: RawTarget, table: RawTable): AsyncIterable<Step> {
  const keyLength = table.key.length;
  const keyOf = (row: RawRow): string => JSON.stringify(row.slice(0, keyLength));
  let after: RawRow | undefined;
  for (;;) {
    const source = await from.rows(table, after, ROWS);
    const last = source.at(-1);
    // The other side up to the same key; rows after the last key are extra.
    const target = await rowsUpTo(to, table, after, last);
    const expected = new Map(source.map((row) => [keyOf(row), JSON.stringify(row)]));
    const found = new Map(target.map((row) => [keyOf(row), JSON.stringify(row)]));
    const put = source.filter((row) => found.get(keyOf(row)) !== expected.get(keyOf(row)));
    const gone = target.filter((row) => !expected.has(keyOf(row)));
    const keys = (rows: readonly RawRow[]): RawRow[] => rows.map((row) => row.slice(0, keyLength));
    const replaced = put.filter((row) => found.has(keyOf(row)));
    if (put.length > 0 || gone.length > 0) await to.change(table, keys([...gone, ...replaced]), put);
    yield { rows: source.length, written: put.length, removed: gone.length };
    if (last === undefined) return;
    after = last.slice(0, keyLength);
  }
}

/** All rows after a key up to and including another one, or to the end. */
async function rowsUpTo(
  side: RawTarget,
  table: RawTable,
  after: RawRow | undefined,
  last: RawRow | undefined,
): Promise<RawRow[]> {
  const found: RawRow[] = [];
  for (let start = after; ; ) {
    const rows = await side.rows(table, start, ROWS);
    const end = rows.at(-1);
    const inside = last === undefined ? rows : rows.filter((row) => !isBeyond(row, last, table.key.length));
    found.push(...inside);
    if (end === undefined || inside.length < rows.length || rows.length < ROWS) return found;
    start = end.slice(0, table.key.length);
  }
}

/** Whether a row comes after another one in key order, which is the same in both engines. */
function isBeyond(row: RawRow, last: RawRow, keyLength: number): boolean {
  for (let index = 0; index < keyLength; index++) {
    const [left, right] = [row[index] ?? null, last[index] ?? null];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left > right;
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right))) > 0;
  }
  return false;
}

/** A value in a row of any engine; truth values are 1 and 0. */
type RawValue = string | number | null;

/** The columns of a table in order, with their kinds. They include those of dropped fields, which no declaration lists. */
export type Columns = ReadonlyMap<string, ColumnKind>;

/** A table of a store, which has the same name and the same columns in every engine. */
interface RawTable {
  readonly name: string;
  /** The columns of its primary key, in order. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly kinds: Columns;
}

type RawRow = readonly RawValue[];

/** Reads rows in key order, after a given one. */
export type ReadRows = (
  table: RawTable,
  after: RawRow | undefined,
  limit: number,
) => Promise<readonly RawRow[]>;

/** A whole store on one snapshot. */
interface RawSource {
  readonly model: StoreModel;
  readonly tables: readonly RawTable[];
  readonly rows: ReadRows;
}

/** A store that is being created, by this process only. */
interface RawTarget {
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
const storeExistsError = (store: string): PlatError => usageError(`A store already exists at ${store}.`);

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
