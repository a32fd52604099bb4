/** Creates the file of a store if there is none, under a name without leftover files next to it (beside.ts). */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { freeName, isBlank, mustNotBeInUse, setAside } from '../../store/files/beside.ts';
import { makePrivateFile } from '../../store/files/private-file.ts';
import { fullCode } from './errors.ts';

/** A typical record fits into a page without overflow (docs/performance.md). */
const PAGE_SIZE = 32_768;
/** How long to wait for another process that creates the same file, in milliseconds. */
const PATIENCE = 30_000;

/** The settings of a new file before it contains anything. */
export const startFile = (database: DatabaseSync): void =>
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL;`);

/**
 * Creates a file with only a header, unless another process was faster.
 *
 * @returns the names under which the log of a deleted file is kept
 * @throws PlatError `storeDenied` if a process has a deleted file of this name open
 */
export function makeFile(path: string, now: number): readonly string[] {
  using _ = takeTurn(path);
  if (!isBlank(path)) return [];
  mustNotBeInUse(path);
  const kept = setAside(path, freeName(path, now));
  makePrivateFile(path);
  using database = new DatabaseSync(path, { timeout: PATIENCE });
  startFile(database);
  return kept;
}

/** A lock among processes that create a file of the same name; if a process is killed, its lock is released. */
export function takeTurn(path: string): Disposable {
  const name = `${path}.making`;
  for (const end = performance.now() + PATIENCE; ; ) {
    makePrivateFile(name);
    const lock = new DatabaseSync(name, { timeout: PATIENCE });
    try {
      // The previous holder of the lock may have deleted this file: SQLite does not write to a file that has been unlinked.
      lock.exec(
        'PRAGMA synchronous = OFF; PRAGMA user_version = 1; BEGIN EXCLUSIVE; PRAGMA user_version = 2',
      );
      return {
        [Symbol.dispose]() {
          rmSync(name, { force: true });
          lock.close();
        },
      };
    } catch (error) {
      lock.close();
      if (!MOVED.has(fullCode(error)) || performance.now() > end) throw error;
    }
  }
}

/** SQLITE_READONLY_DBMOVED, and SQLITE_IOERR_FSTAT. */
const MOVED = new Set<unknown>([1032, 1802]);
