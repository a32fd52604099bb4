/** The file of an embedded store: whether it is still the one that was opened, and why it cannot be used. */

import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PlatError, platError } from '../../errors/index.ts';
import { codeOf } from '../../shared/error-code.ts';
import { DETECTION_BYTES, kindOf } from '../../shared/file-kind.ts';
import { DATABASE_FILE_ENDINGS } from './partial-file.ts';

const statOrNone = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

/** The file with which a store was opened, and its current state. */
export class StoreFile {
  readonly path: string;
  #opened: readonly (readonly [path: string, opened: Stats | undefined])[] = [];
  readonly #idBeneath: (path: string) => string | undefined;
  /** The id in the file itself, without its log, and the file's modification time when that was read. */
  #known: { readonly id: string; readonly written: bigint } | undefined;

  /** @param idBeneath reads the id in the file itself, without its log; undefined while it cannot be read */
  constructor(path: string, idBeneath: (path: string) => string | undefined) {
    this.path = path;
    this.#idBeneath = idBeneath;
  }

  /** Must be called once the file is open and its log (`-wal`) exists. */
  recordIdentity(): void {
    this.#opened = [this.path, `${this.path}-wal`].map((each) => [each, statOrNone(each)] as const);
    this.#isAnother();
  }

  /** Whether the file that was opened was deleted or replaced. */
  isLost(): boolean {
    return this.trouble() !== undefined;
  }

  /** @throws PlatError `storeReplaced`: writes to a file without a name would be lost */
  mustNotBeReplaced(): void {
    const reason = this.trouble();
    if (reason !== undefined) throw platError('storeReplaced', { store: this.path, reason });
  }

  /** Why this process can no longer use the file; undefined if it can. */
  trouble(): string | undefined {
    for (const [path, opened] of this.#opened) {
      if (opened === undefined) continue;
      const what = path === this.path ? "the store's file" : "the store's log (-wal)";
      const now = statOrNone(path);
      if (now === undefined) return `${what} was deleted while it was in use`;
      if (now.ino !== opened.ino || now.dev !== opened.dev) return `${what} was replaced while it was in use`;
    }
    return this.#isAnother() ? "the store's file was overwritten while it was in use" : undefined;
  }

  /** Whether other content was written into the file since it was opened; checked after the file was modified. */
  #isAnother(): boolean {
    const written = statSync(this.path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    if (written === undefined || written === this.#known?.written) return false;
    const id = this.#idBeneath(this.path);
    if (id === undefined) return false;
    if (this.#known !== undefined && this.#known.id !== id) return true;
    this.#known = { id, written };
    return false;
  }
}

/** Why the operating system does not permit using a file as a store; undefined if it does. */
export function accessError(store: string): PlatError | undefined {
  const say = (reason: string): PlatError => platError('storeDenied', { store, reason });
  const file = statOrNone(store);
  if (file?.isDirectory() === true)
    return say(`it is a folder; name a file in it, such as ${join(store, 'market.db')}`);
  if (file !== undefined && !file.isFile()) return say('it is not a file');
  const folder = dirname(store);
  const places: readonly (readonly [path: string, mode: number, what: string])[] = [
    ...(file === undefined
      ? []
      : ([
          [store, constants.R_OK, 'reading it'],
          [store, constants.W_OK, 'writing it'],
        ] as const)),
    [folder, constants.W_OK | constants.X_OK, 'writing its folder, as a store needs,'],
  ];
  for (const [path, mode, what] of places) {
    const code = accessErrorCode(path, mode);
    if (code === 'EROFS')
      return say('it is on a read-only file system, and even reading a store writes to it');
    if (code === 'EACCES' || code === 'EPERM')
      return say(`there is no permission for ${what}`.replace(/,$/, ''));
  }
  return undefined;
}

function accessErrorCode(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** What kind of file this is if it is not a database, by its first bytes. */
export function describeFile(path: string): string {
  const into = `"plat import --store market.db ${path}" stores what is in it`;
  const found = kindOf(beginningOf(path));
  switch (found.kind) {
    case 'json':
      return `it is JSON; ${into}`;
    case 'table':
      return `it is a table (${found.header}…); ${into}`;
    case 'gzip':
      return `it is compressed with gzip; "gzip -dc ${path}" unpacks it, and where records are in it, ${into}`;
    case 'foreign':
      return `it is ${found.what}`;
    case 'sqlite': // the header is a database's, but the rest is not
    case 'unknown':
      return 'it is not an SQLite database';
  }
}

/** Whether a file is an SQLite database, or one that SQLite keeps next to a database. */
export const isDatabaseFile = (path: string): boolean =>
  ['', ...DATABASE_FILE_ENDINGS].some(
    (end) =>
      path.endsWith(end) && kindOf(beginningOf(path.slice(0, path.length - end.length))).kind === 'sqlite',
  );

function beginningOf(path: string): Buffer {
  const bytes = Buffer.alloc(DETECTION_BYTES);
  try {
    const descriptor = openSync(path, 'r');
    try {
      return bytes.subarray(0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0); // it was deleted, or is a folder
  }
}
