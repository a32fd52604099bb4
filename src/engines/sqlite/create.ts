/** The file of a store: detects what is at a path, creates a file with the tables of a store, and migrates it. */
import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { platError } from '../../errors/index.ts';
import type { StoreSettings } from '../../records/settings.ts';
import type { Clock } from '../../shared/clock.ts';
import { sqliteCodeOf } from '../../shared/error-code.ts';
import {
  isEmptyFile,
  mustNotBeInUse,
  setAsideLogFiles,
  unusedName,
  writeError,
} from '../../store/files/partial-file.ts';
import { makePrivateFile } from '../../store/files/private-file.ts';
import { logStored } from '../../store/rows/change-log.ts';
import { LAYOUT_VERSION, LayoutTooNew, readModel } from '../../store/state/meta.ts';
import { initializeStore, mustBeStore, type StorePresence } from '../../store/state/new-store.ts';
import { newEpoch } from '../../store/time/epoch.ts';
import { connect, READ_PATIENCE } from './connection.ts';
import { sessionOn, writeSessionOn } from './session.ts';
import { applyTables, columnsOf, OWN_TABLE_STATEMENTS } from './tables.ts';
import { LOCK_TIMEOUT, underLock } from './transaction.ts';

/** "plat" in the header of the file, which distinguishes a store from any other database. */
const APPLICATION_ID = 0x706c6174;
/** Marks a file as a store. */
export const markStore = (database: DatabaseSync): void =>
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${LAYOUT_VERSION};`);

const isMarked = (database: DatabaseSync): boolean =>
  Number(database.prepare('PRAGMA application_id').get()?.application_id) === APPLICATION_ID;

/** The layout of a file's tables; 0 while they are being created. */
const layoutOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.user_version);

/** Whether a file has all tables of a store. */
export const isStore = (database: DatabaseSync): boolean => isMarked(database) && layoutOf(database) > 0;

/** @throws PlatError if the file is not a store, or must not be touched; LayoutTooNew */
export function inspect(path: string): StorePresence {
  mustNotBeInUse(path);
  if (!existsSync(path)) return 'nothing';
  if (isEmptyFile(path)) return 'empty';
  mustOwnItsLog(path);
  using database = new DatabaseSync(path, { readOnly: false, timeout: READ_PATIENCE });
  const hasTables = database.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined;
  if (!isMarked(database)) {
    if (!hasTables) return 'empty';
    if (columnsOf(database, 'plat_meta').size > 0) return 'incomplete';
    throw platError('storeNotOurs', { store: path, reason: 'it is another database' });
  }
  const layout = layoutOf(database);
  if (layout > LAYOUT_VERSION) throw new LayoutTooNew(layout);
  if (!hasTables || layout === 0) return 'empty';
  // With a write-ahead log, readers never wait for a writer. A copy made by SQLite (`VACUUM INTO`) has no such log, and someone may
  // have turned it off.
  const mode = database.prepare('PRAGMA journal_mode').get()?.journal_mode;
  if (mode !== 'wal') database.exec('PRAGMA journal_mode = WAL');
  return layout < LAYOUT_VERSION ? 'older store' : 'store';
}

/** Like `inspect`, but requires a store. @param mayMake whether it may not exist yet */
export const inspectStore = (path: string, mayMake = false) => mustBeStore(path, inspect(path), mayMake);

/** A typical record fits into a page without overflow (docs/performance.md). */
const PAGE_SIZE = 32_768;
/** How long to wait for another process that creates the same file, in milliseconds. */
const CREATE_TIMEOUT = 30_000;

/**
 * Creates a file with only a header and a write-ahead log, unless another process was faster.
 * @returns the names under which the log of a deleted file is kept
 * @throws PlatError `storeDenied` if a process has a deleted file of this name open
 */
export function makeFile(path: string, now: number): readonly string[] {
  using _ = takeTurn(path);
  const kept: string[] = [];
  if (isEmptyFile(path)) {
    mustNotBeInUse(path);
    kept.push(...setAsideLogFiles(path, unusedName(path, now)));
    makePrivateFile(path);
  }
  using database = new DatabaseSync(path, { timeout: CREATE_TIMEOUT });
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL;`);
  return kept;
}

/** A lock among processes that create a file of the same name; if a process is killed, its lock is released. */
export function takeTurn(path: string): Disposable {
  const name = `${path}.making`;
  for (const end = performance.now() + CREATE_TIMEOUT; ; ) {
    using taken = new DisposableStack();
    try {
      makePrivateFile(name);
    } catch (error) {
      throw writeError(error, path, name);
    }
    const lock = taken.use(new DatabaseSync(name, { timeout: CREATE_TIMEOUT }));
    try {
      // The previous holder of the lock may have deleted this file: SQLite does not write to a file that has been unlinked.
      lock.exec(
        'PRAGMA synchronous = OFF; PRAGMA user_version = 1; BEGIN EXCLUSIVE; PRAGMA user_version = 2',
      );
      taken.defer(() => rmSync(name, { force: true }));
      return taken.move();
    } catch (error) {
      if (!UNLINKED_CODES.has(sqliteCodeOf(error)) || performance.now() > end) throw error;
    }
  }
}

/** SQLITE_READONLY_DBMOVED, and SQLITE_IOERR_FSTAT. */
const UNLINKED_CODES: ReadonlySet<number> = new Set([1032, 1802]);

/** Creates a store, unless another process was faster. @returns the result of `makeFile` */
export async function createStore(
  path: string,
  settings: StoreSettings,
  clock: Clock,
): Promise<readonly string[]> {
  const kept = makeFile(path, clock.now());
  using connection = connect({ path, readOnly: false, busyTimeout: LOCK_TIMEOUT, cacheMegabytes: 16 });
  const { database } = connection;
  await underLock(connection, async () => {
    if (layoutOf(database) > 0) return;
    database.exec(OWN_TABLE_STATEMENTS);
    const begun = { settings, epoch: newEpoch(), now: clock.now() };
    await initializeStore(writeSessionOn(connection), begun, async (_, model) =>
      applyTables(database, model),
    );
    markStore(database);
  });
  return kept;
}

/**
 * Migrates a file of an older layout, once, under the write lock: creates new tables and indexes, which are empty (plat_changes) or
 * contain the words of all stored records (the word index). An error leaves the file unchanged.
 */
export async function migrateStore(path: string): Promise<void> {
  using connection = connect({ path, readOnly: false, busyTimeout: LOCK_TIMEOUT, cacheMegabytes: 64 });
  const { database } = connection;
  await underLock(connection, async () => {
    // Another process has already migrated the file.
    if (layoutOf(database) === LAYOUT_VERSION) return;
    extendChanges(database);
    const session = sessionOn(connection);
    const model = await readModel(session);
    applyTables(database, model);
    await logStored(session, model);
    markStore(database);
  });
}

/** Entries from before layout 4 do not record what happened or who sees the record, so the sequence begins again after them. */
function extendChanges(database: DatabaseSync): void {
  const there = columnsOf(database, 'plat_changes');
  if (there.size === 0 || there.has('kind')) return;
  database.exec(`ALTER TABLE plat_changes RENAME TO plat_changes_before; ${OWN_TABLE_STATEMENTS};
    INSERT INTO plat_changes (seq, resource, key, kind, at, was, visible)
      SELECT seq, resource, key, iif(resource = '.', 'commit', 'all'), 0, 0, 0 FROM plat_changes_before;
    DROP TABLE plat_changes_before;
    INSERT OR IGNORE INTO plat_meta (name, value) SELECT 'changes_horizon', coalesce(max(seq), 0) FROM plat_changes`);
}

/**
 * Reads the id of a file. SQLite assumes that any log (`-wal`) next to a file belongs to it, so a backup that replaces a store by
 * hand would receive later changes of the original. A backup has its own id, so in that case the id read with the log differs from
 * the one read without it.
 */
const READ = "SELECT value FROM plat_meta WHERE name = 'file'";
const idOf = (database: DatabaseSync): string => String(database.prepare(READ).get()?.value ?? '');

/** The id in the file without its log; undefined if it cannot be read because it is being written. */
export function idWithoutLog(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(address, { readOnly: true });
    return idOf(database);
  } catch {
    return undefined;
  }
}

/** @throws PlatError `storeDenied` if the log next to the file belongs to another file; nothing is then written to either */
export function mustOwnItsLog(path: string): void {
  if (isEmptyFile(`${path}-wal`)) return;
  const beneath = idWithoutLog(path);
  if (beneath === undefined) return;
  using database = new DatabaseSync(path, { readOnly: true, timeout: READ_PATIENCE });
  if (idOf(database) === beneath) return;
  const reason = `a backup was put in its place, but the log next to it belongs to the previous file. End all processes that have it open, remove ${path}-wal and ${path}-shm, and run "plat restore --store ${path} --new-epoch"`;
  throw platError('storeDenied', { store: path, reason });
}
