/**
 * A position in the sequence of changes, stored in a file of one line that is replaced as a whole. Only one process may use the
 * file: two processes would make each other skip changes. This module knows nothing about the changes.
 */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { failedError, PlatError, usageError } from '../errors/index.ts';
import { messageOf } from '../shared/error-code.ts';
import { parsePosition } from '../store/changes/change-feed.ts';
import { PartialFile } from '../store/files/partial-file.ts';
import { mustHaveFolder, mustNotBeFolder } from './options.ts';

export class CheckpointFile {
  readonly #name: string;
  readonly #path: string;
  readonly #write: (path: string, text: string) => void;
  #position: string | undefined;

  /**
   * @param write writes a file, and returns when the content is on the disk
   * @throws PlatError `usage` if the file cannot be written, or if it contains something else
   */
  constructor(name: string, write = writeDurably) {
    mustHaveFolder(name);
    mustNotBeFolder(name);
    this.#name = name;
    this.#write = write;
    try {
      this.#path = existsSync(name) ? realpathSync(name) : name; // a symbolic link is kept
      this.#position = this.#read();
      // Verifies that the file can be replaced before anything is written elsewhere.
      new PartialFile(this.#path, ENDING)[Symbol.dispose]();
    } catch (error) {
      throw usageError(`The checkpoint ${name} cannot be used: ${messageOf(error)}.`);
    }
    if (this.#position === undefined || parsePosition(this.#position) !== undefined) return;
    throw usageError(
      `${name} does not contain a position in a sequence of changes. To start over, delete it.`,
    );
  }

  /** The last position that was stored; undefined if there is none. */
  get position(): string | undefined {
    return this.#position;
  }

  /** @throws PlatError `failed` if the position cannot be stored; the file then remains as it was */
  save(position: string): void {
    if (position === this.#position) return;
    try {
      if (this.#read() !== this.#position) throw changedByAnother(this.#name);
      using partial = new PartialFile(this.#path, ENDING);
      this.#write(partial.path, `${position}\n`);
      partial.replaceTarget();
    } catch (error) {
      if (error instanceof PlatError) throw error;
      const reason = `The checkpoint ${this.#name} cannot be written: ${messageOf(error)}. It stays as it was, so later lines will be repeated.`;
      throw failedError(reason, { cause: error });
    }
    this.#position = position;
  }

  #read(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, 'utf8').trim() : undefined;
  }
}

const ENDING = '.partial';

const writeDurably = (path: string, text: string): void => writeFileSync(path, text, { flush: true });

const changedByAnother = (name: string): PlatError =>
  failedError(
    `The checkpoint ${name} was changed by another process. Each process that follows changes needs its own checkpoint.`,
  );
