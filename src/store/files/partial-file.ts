/**
 * A file that cannot be mistaken for a complete one: it is filled under a temporary name, renamed when it is complete,
 * and deleted otherwise, even if a signal ends the process. The next process that fills the same file removes what a
 * killed one left. It knows nothing of the content.
 */
import { chmodSync, closeSync, existsSync, fstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { failedError, isStoreFull, platError, usageError } from '../../errors/index.ts';
import { processWithoutFile } from './lock-holders.ts';
import { openPrivateFile } from './private-file.ts';

/** The endings of the files that SQLite keeps next to a database. */
export const DATABASE_FILE_ENDINGS = ['-wal', '-shm', '-journal'] as const;

/** Translates the error of a copy into a file. A copy only reads its source, so a full disk is that of the file. */
export function copyError(error: unknown, file: string): unknown {
  if (!isStoreFull(error)) return error;
  return failedError(`There is no room left on the disk of ${file}.`, { cause: error });
}

/**
 * Adds the name of the file that is being written to an error of the system: the error of a write to a full disk names no file.
 * @param partial the temporary name, which users do not know
 */
export function writeError(error: unknown, file: string, partial?: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  if (!('path' in error))
    return failedError(`${file} cannot be written: ${error.message}.`, { cause: error });
  if (partial === undefined || error.path !== partial) return error;
  // The result is still an error of the system, whose message is all that a user needs.
  return Object.assign(new Error(error.message.replace(partial, file)), { ...error, path: file });
}

export class PartialFile implements Disposable {
  /** The path of the empty file to fill. */
  readonly path: string;
  readonly #file: string;
  /** Held open so that no other file gets its inode number. */
  readonly #descriptor: number;
  readonly #remove = (): void => {
    // Another process may be filling the same file in the meantime, and owns the file at this path.
    if (!this.#isOwn()) return;
    for (const end of ['', ...DATABASE_FILE_ENDINGS]) rmSync(`${this.path}${end}`, { force: true });
  };

  /** @param ending of the temporary name */
  constructor(file: string, ending: string) {
    this.#file = file;
    this.path = `${file}${ending}`;
    try {
      for (const end of ['', ...DATABASE_FILE_ENDINGS]) rmSync(`${this.path}${end}`, { force: true });
      this.#descriptor = openPrivateFile(this.path);
    } catch (error) {
      throw existsSync(this.path) ? error : writeError(error, file, this.path);
    }
    process.on('exit', this.#remove);
  }

  /**
   * Gives the complete file its name, and the mode of the file that it replaces.
   * @throws PlatError `failed` if another process is filling the same file
   */
  replaceTarget(): void {
    if (!existsSync(this.path) || !this.#isOwn()) {
      throw failedError(`Another process is writing ${this.#file}.`);
    }
    const before = statSync(this.#file, { throwIfNoEntry: false });
    if (before !== undefined) chmodSync(this.path, before.mode & 0o777);
    renameSync(this.path, this.#file);
  }

  [Symbol.dispose](): void {
    process.removeListener('exit', this.#remove);
    this.#remove();
    closeSync(this.#descriptor);
  }

  /** Whether the file at the path, if any, is the one that this instance created. */
  #isOwn(): boolean {
    const found = statSync(this.path, { throwIfNoEntry: false });
    return found === undefined || found.ino === fstatSync(this.#descriptor).ino;
  }
}

/** Whether there is no file, or an empty one. */
export const isEmptyFile = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * SQLite uses any file with the store's name and `-wal`, `-shm` or `-journal` as its log, even one left by a deleted store: it
 * would be written into the new file, or be shared with a process that still has the deleted file open. So no such file may exist
 * when a file gets its name.
 * @throws PlatError `storeDenied` if a process is known to write the log of another file of this name
 */
export function mustNotBeInUse(path: string): void {
  const holder = processWithoutFile(path);
  if (holder === undefined) return;
  const what = existsSync(path) ? 'another file was put in its place' : 'its file was deleted';
  const reason = `${what} while process ${holder} has it open. End that process first`;
  throw platError('storeDenied', { store: path, reason });
}

/**
 * Renames the files next to a file, so that the next file of that name does not use them.
 * @param name kept files get this name and their ending
 * @returns the names of kept files: a log may contain the last writes; the others are worthless without their file
 */
export function setAsideLogFiles(path: string, name: string): readonly string[] {
  const kept: string[] = [];
  for (const end of DATABASE_FILE_ENDINGS) {
    const [from, to] = [`${path}${end}`, `${name}${end}`];
    if (end === '-shm' || isEmptyFile(from)) rmSync(from, { force: true });
    else {
      renameSync(from, to);
      kept.push(to);
    }
  }
  return kept;
}

/** An unused name for a file that had this one. */
export function unusedName(path: string, now: number): string {
  const name = `${path}.replaced-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const isFree = (each: string): boolean =>
    ['', ...DATABASE_FILE_ENDINGS].every((end) => !existsSync(`${each}${end}`));
  for (let count = 1; ; count++) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (isFree(each)) return each;
  }
}

/** @throws PlatError `usage` if a file of this name would use the files next to it as its own */
export function mustHaveNoLogFiles(path: string): void {
  const found = DATABASE_FILE_ENDINGS.map((end) => `${path}${end}`).find((each) => existsSync(each));
  if (found === undefined) return;
  throw usageError(`${found} already exists and would be treated as part of ${path}. Move it away.`);
}

/** Where a backup comes from, and how it is written and checked. */
interface BackupParts {
  /** The store's name for messages. */
  readonly source: string;
  /** Fills the empty file. */
  readonly write: (path: string) => Promise<void>;
  /** The fault of the copy; undefined if there is none. */
  readonly faultOf: (path: string) => Promise<string | undefined>;
}

/**
 * A backup file gets its name only when it is complete and intact: before that, it is opened and checked like a store.
 * @throws PlatError `usage` if the file exists; `storeDamaged` if the copy is damaged
 */
export async function makeBackup(file: string, { source, write, faultOf }: BackupParts): Promise<void> {
  mustNotExist(file);
  using partial = new PartialFile(file, '.partial');
  await write(partial.path);
  const fault = await faultOf(partial.path);
  if (fault !== undefined) {
    const reason = `its copy does not pass the check (${fault}), and was not kept`;
    throw platError('storeDamaged', { store: source, reason });
  }
  mustNotExist(file);
  partial.replaceTarget();
}

function mustNotExist(file: string): void {
  if (existsSync(file)) throw usageError(`${file} already exists.`);
  mustHaveNoLogFiles(file);
}
