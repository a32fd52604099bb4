/**
 * A file that cannot be mistaken for a complete one: it is filled under a temporary name, renamed when it is complete,
 * and deleted otherwise, even if a signal ends the process. The next process that fills the same file removes what a
 * killed one left. It knows nothing of the content.
 */
import { chmodSync, closeSync, existsSync, fstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { PlatError, platError } from '../../errors/index.ts';
import { openPrivateFile } from './private-file.ts';

/** The endings of the files that SQLite keeps next to a database. */
export const DATABASE_FILE_ENDINGS = ['-wal', '-shm', '-journal'] as const;

/** Translates the error of a copy into a file. A copy only reads its source, so a full disk is that of the file. */
export function copyError(error: unknown, file: string): unknown {
  if (!(error instanceof PlatError) || error.code !== 'storeFull') return error;
  return platError('failed', { reason: `There is no room left on the disk of ${file}.` }, { cause: error });
}

/**
 * Adds the name of the file that is being written to an error of the system: the error of a write to a full disk names no file.
 * @param partial the temporary name, which users do not know
 */
export function writeError(error: unknown, file: string, partial?: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  if (!('path' in error))
    return platError('failed', { reason: `${file} cannot be written: ${error.message}.` }, { cause: error });
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
      throw platError('failed', { reason: `Another process is writing ${this.#file}.` });
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
