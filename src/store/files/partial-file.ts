/**
 * A file that nobody takes for a whole one: it is filled under a name of its own, gets its name when it is whole, and is
 * gone when it is not, also when a signal ends the process. What a killed process left is removed by the next that fills
 * the same file. It knows nothing of what is in it.
 */
import { chmodSync, closeSync, existsSync, fstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { platError } from '../../errors/index.ts';
import { openPrivateFile } from './private-file.ts';

/** What SQLite keeps beside a file, under names that end so. */
export const BESIDE = ['-wal', '-shm', '-journal'] as const;

export class PartialFile implements Disposable {
  /** To be filled: it is there, and empty. */
  readonly path: string;
  readonly #file: string;
  /** Held open, so that no other file gets its number. */
  readonly #descriptor: number;
  readonly #remove = (): void => {
    // Another process may fill the same file by now: what it made is its own.
    if (!this.#isOwn()) return;
    for (const end of ['', ...BESIDE]) rmSync(`${this.path}${end}`, { force: true });
  };

  /** @param ending of its name as long as it is not whole */
  constructor(file: string, ending: string) {
    this.#file = file;
    this.path = `${file}${ending}`;
    for (const end of ['', ...BESIDE]) rmSync(`${this.path}${end}`, { force: true });
    this.#descriptor = openPrivateFile(this.path);
    process.on('exit', this.#remove);
  }

  /**
   * It is whole: it gets its name, and the mode of the file whose place it takes.
   * @throws PlatError `failed` when another process fills the same file
   */
  takePlace(): void {
    if (!existsSync(this.path) || !this.#isOwn()) {
      throw platError('failed', { reason: `Another process writes ${this.#file}.` });
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

  /** Whether what lies there, if anything, is what this one made. */
  #isOwn(): boolean {
    const found = statSync(this.path, { throwIfNoEntry: false });
    return found === undefined || found.ino === fstatSync(this.#descriptor).ino;
  }
}
