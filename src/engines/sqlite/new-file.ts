/**
 * Makes the file of a store where there is none. SQLite takes whatever lies beside a file under its name for its log
 * (`-wal`, `-shm`, `-journal`), also what is left of a file that was deleted: it would be written into the new one, or be
 * shared with a process that still has the deleted one open. So nothing may lie there when a file gets its name.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { BESIDE } from '../../store/partial-file.ts';
import { makePrivateFile } from '../../store/private-file.ts';
import { processWithoutFile } from './lock-holders.ts';

/** A usual record fits into a page without overflow (docs/performance.md). */
const PAGE_SIZE = 32_768;
/** How long another process that makes the same file is waited for, in milliseconds. */
const PATIENCE = 30_000;

/** What a new file has to be told before it holds anything. */
export const startFile = (database: DatabaseSync): void =>
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL;`);

/** Whether there is no file, or one that holds nothing. */
export const isBlank = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * Makes a file that holds nothing but its header, unless another process was faster.
 * @returns under which names the log of a file that was deleted is kept
 * @throws PlatError `storeDenied` when a process is known to have a deleted file of this name open
 */
export function makeFile(path: string, now: number): readonly string[] {
  using _ = takeTurn(path);
  if (!isBlank(path)) return [];
  mustNotBeInUse(path);
  const kept = setAside(path, freeName(path, now));
  makePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: PATIENCE });
  try {
    startFile(database);
  } finally {
    database.close();
  }
  return kept;
}

/** @throws PlatError `storeDenied` when a process is known to write the log of another file of this name */
export function mustNotBeInUse(path: string): void {
  const holder = processWithoutFile(path);
  if (holder === undefined) return;
  const what = existsSync(path) ? 'another file was put in its place' : 'its file was deleted';
  const reason = `${what} while process ${holder} has it open. End that process first`;
  throw platError('storeDenied', { store: path, reason });
}

/**
 * Moves what lies beside a file under its name, so that the next file of that name does not take it for its own.
 * @param name what is kept gets this name and its ending
 * @returns what is kept: a log may hold what was stored last; the rest is worth nothing without its file
 */
export function setAside(path: string, name: string): readonly string[] {
  const kept: string[] = [];
  for (const end of BESIDE) {
    const [lies, aside] = [`${path}${end}`, `${name}${end}`];
    if (end === '-shm' || isBlank(lies)) rmSync(lies, { force: true });
    else {
      renameSync(lies, aside);
      kept.push(aside);
    }
  }
  return kept;
}

/** A name under which what had this one is kept. */
export function freeName(path: string, now: number): string {
  const name = `${path}.replaced-${timestampFrom(now).replace(/[-:]|\.\d+/g, '')}`;
  const isFree = (each: string): boolean => ['', ...BESIDE].every((end) => !existsSync(`${each}${end}`));
  for (let count = 1; ; count++) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (isFree(each)) return each;
  }
}

/** @throws PlatError `usage` when a file of this name would take for its own what lies beside it */
export function mustLieAlone(path: string): void {
  const found = BESIDE.map((end) => `${path}${end}`).find((each) => existsSync(each));
  if (found === undefined) return;
  const reason = `${found} exists already, and would be taken for a part of ${path}. Move it away.`;
  throw platError('usage', { reason });
}

/** Of processes that make a file of the same name, one is at it; the lock of one that is killed goes with it. */
export function takeTurn(path: string): Disposable {
  const name = `${path}.making`;
  for (const end = performance.now() + PATIENCE; ; ) {
    makePrivateFile(name);
    const lock = new DatabaseSync(name, { timeout: PATIENCE });
    try {
      // Whoever had the lock before has deleted this file, perhaps: SQLite changes none that has lost its name.
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
      if (!hasMoved(error) || performance.now() > end) throw error;
    }
  }
}

/** SQLITE_READONLY_DBMOVED, and SQLITE_IOERR_FSTAT. */
const MOVED = new Set<unknown>([1032, 1802]);
const hasMoved = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && MOVED.has(error.errcode);
