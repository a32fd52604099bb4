/** Chooses the engine by the address of a store, and loads only that one. */
import { availableParallelism } from 'node:os';
import type { ReadStoreOptions } from './engines/postgres/store.ts';
import type { SqliteStoreOptions } from './engines/sqlite/store.ts';
import { usageError } from './errors/index.ts';
import { DEFAULT_SETTINGS, type Owner, type StoreSettings } from './records/settings.ts';
import type { RawTables } from './store/copy/copy-store.ts';
import type { EngineOptions } from './store/engine.ts';
import type { Restore, Restored } from './store/files/restore.ts';
import type { PartitionField, Store } from './store/store.ts';

/** `STORE` as commands and configuration write it: a path, `sqlite:PATH`, or `postgres://…`. */
type StoreAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string };

/** @throws PlatError `usage` for an address of something else, with what would be right */
export function parseStoreAddress(text: string): StoreAddress {
  if (/^postgres(ql)?:\/\//.test(text)) return { engine: 'postgres', url: text };
  const other = ADDRESSES.find(([form]) => form.test(text));
  if (other !== undefined) throw usageError(`${withoutPassword(text)} is not a store: ${other[1]}.`);
  // With two slashes and no host, the path begins at the third slash.
  const path = text.replace(/^sqlite:(?:\/\/(?=\/))?/i, '');
  if (path.trim() === '') throw usageError('The store has no path.');
  return { engine: 'sqlite', path };
}

const ENGINES =
  'plat keeps records in SQLite (a path, or sqlite:PATH) or in PostgreSQL (postgres://USER@HOST/DATABASE)';

/** Texts that look like an address rather than a path, for which a file would otherwise be created silently. */
const ADDRESSES: readonly (readonly [form: RegExp, remedy: string])[] = [
  [/^postgres(ql)?:/i, 'the address of a store on a server is postgres://USER@HOST/DATABASE'],
  [/^sqlite3?:\/\/[^/]/i, 'the address of a store in a file is sqlite:PATH, or just the path'],
  [/^sqlite3:/i, 'the address of a store in a file is sqlite:PATH, or just the path'],
  [/^file:/i, 'the address of a store in a file is just its path'],
  [/^(?:sqlite:)?:memory:$/i, 'the records of a store are in a file or on a server'],
  [/^https?:\/\//i, 'it is the address of a service, from which "plat replicate --from" copies into a store'],
  [
    /^(?:jdbc|mysqlx?|mariadb|mssql|sqlserver|oracle|mongodb(?:\+srv)?|redis|duckdb|libsql|snowflake|bigquery):/i,
    ENGINES,
  ],
  [/^(?!sqlite:)[a-z][a-z0-9+.-]+:\/\//i, ENGINES],
];

/** An address for messages. */
export const withoutPassword = (text: string): string =>
  text.replace(/^([\w+.:-]*:\/\/[^/@:]*):[^/@]*@/, '$1@');

export interface OpenStoreOptions extends Omit<EngineOptions, 'create' | 'limits'> {
  /** How to create a store that does not exist; absent: it must exist. */
  readonly create?: Owner | StoreSettings;
  /** The partition key of the large tables. An existing store must have been created with the same one. */
  readonly partitions?: PartitionField;
  /** Whether reads run on threads, as in a service; of a store on a server, whether each lane has a connection from the start. */
  readonly threads?: boolean;
  /** Whether an embedded store checks its rows on threads, as `verify` of a whole copy does. */
  readonly checks?: boolean;
  /** Standbys of the store's server to read from. */
  readonly readStores?: ReadStoreOptions;
  /** Of an embedded store. */
  readonly cacheMegabytes?: SqliteStoreOptions['cacheMegabytes'];
}

/**
 * Opens a store with the engine that its address names.
 * @throws PlatError `storeMissing`, `storeNotOurs`, `storeTooNew`, `storeBusy`, `usage`
 */
export async function openStore(address: string, options: OpenStoreOptions = {}): Promise<Store> {
  const {
    create,
    onCreate,
    partitions,
    threads = false,
    checks = false,
    readStores,
    cacheMegabytes,
    ...rest
  } = options;
  const settings = {
    ...(create === undefined
      ? {}
      : { create: typeof create === 'string' ? { ...DEFAULT_SETTINGS, owner: create } : create, onCreate }),
    ...rest,
  };
  const found = parseStoreAddress(address);
  switch (found.engine) {
    case 'postgres': {
      const { openPostgresStore } = await import('./engines/postgres/store.ts');
      return openPostgresStore({
        address: found.url,
        ...settings,
        warm: threads,
        partitions,
        readStores,
        writeBackup: async (...to) => (await import('./engines/sqlite/backup.ts')).writeBackup(...to),
      });
    }
    case 'sqlite': {
      mustNotBePartitioned(partitions);
      if (readStores !== undefined) {
        throw usageError('readStores are copies of a store on a server, not of a file.');
      }
      const { openSqliteStore } = await import('./engines/sqlite/store.ts');
      const readers = threads ? Math.max(1, availableParallelism() - 1) : 0;
      return openSqliteStore({
        path: found.path,
        ...settings,
        pageReaders: readers,
        // A search may take long, so one caller gets at most one of the two threads (fair-queue.ts).
        searchReaders: threads ? Math.max(2, readers) : 0,
        checkers: checks ? availableParallelism() : 0,
        cacheMegabytes,
      });
    }
  }
}

function mustNotBePartitioned(partitions: PartitionField | undefined): void {
  if (partitions === undefined) return;
  throw usageError('partitions require a store on a server, not a file.');
}

/** What tells the file of an embedded store from a backup that was put in its place; empty for a store on a server. */
export async function storeFileId(address: string): Promise<string> {
  const found = parseStoreAddress(address);
  if (found.engine === 'postgres') return '';
  const { idWithoutLog } = await import('./engines/sqlite/create.ts');
  return idWithoutLog(found.path) ?? '';
}

/**
 * The tables of a store as they are, for a copy to another engine.
 * @param create whether to create a file or schema that does not exist
 * @param partitions the partition key of large tables that are created
 */
export async function openTables(
  address: string,
  create: boolean,
  partitions?: PartitionField,
): Promise<RawTables> {
  const found = parseStoreAddress(address);
  if (found.engine === 'postgres') {
    const { postgresTables } = await import('./engines/postgres/raw-tables.ts');
    return postgresTables(found.url, partitions);
  }
  mustNotBePartitioned(partitions);
  const { sqliteTables } = await import('./engines/sqlite/raw-tables.ts');
  return sqliteTables(found.path, create);
}

export type { Restored };

/** Restores an embedded store from a backup. */
export async function restoreStore(what: Restore): Promise<Restored> {
  const { restore } = await import('./store/files/restore.ts');
  const { sqliteFiles } = await import('./engines/sqlite/restore.ts');
  return restore(sqliteFiles, what);
}
