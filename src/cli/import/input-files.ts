/**
 * The files that an import reads. Determines their format, and whether plat can read them. Input that can be read only once, such
 * as stdin, is first copied to a temporary file if it is needed twice. This module knows nothing about records.
 */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, gunzipSync } from 'node:zlib';
import { usageError } from '../../errors/index.ts';
import { messageOf } from '../../shared/error-code.ts';
import { isGzip, kindOf, textOfBeginning } from '../../shared/file-kind.ts';
import { writeError } from '../../store/files/partial-file.ts';

export const FILE_FORMATS = ['json', 'csv', 'tsv'] as const;
type FileFormat = (typeof FILE_FORMATS)[number];

export interface InputFile {
  /** `-` is stdin. */
  readonly path: string;
  /** The name in messages. */
  readonly name: string;
  readonly form: FileFormat;
}

interface InputFiles extends Disposable {
  readonly files: readonly InputFile[];
}

/** The number of bytes that are read to determine the kind of a file. */
const BEGINNING = 1 << 16;

const inputFile = (path: string, asked: FileFormat | undefined): InputFile => ({
  path,
  name: path === '-' ? 'stdin' : path,
  form: formatOf(path, asked),
});

/** @param asked the format given on the command line; undefined: the name of the file decides */
function formatOf(name: string, asked: FileFormat | undefined): FileFormat {
  if (asked !== undefined) return asked;
  const ending = /\.(csv|tsv|tab)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return 'json';
  return ending === 'csv' ? 'csv' : 'tsv';
}

/** The size of a file in bytes, if it is known. */
export const fileSize = (path: string): number | undefined =>
  path === '-' ? undefined : statSync(path, { throwIfNoEntry: false })?.size;

/**
 * Checks a file before anything is stored. Input that is not a regular file, such as a pipe, is checked when it is read.
 * @throws PlatError `usage` for a file that plat does not read
 */
export function mustBeReadable(file: string, asked: FileFormat | undefined): void {
  if (file === '-') return;
  const found = readingFrom(file, () => statSync(file, { throwIfNoEntry: false }));
  if (found === undefined) throw usageError(`There is no file ${file}.`);
  if (found.isDirectory()) {
    const example = join(file, '*.json');
    throw usageError(`${file} is a folder, not a file: name the files in it, such as ${example}.`);
  }
  if (found.isFile()) mustHoldText(file, formatOf(file, asked), beginningOf(file));
}

/**
 * The first bytes of a file, decompressed. Empty if the file is damaged; reading it later reports how much of it can be read.
 * @throws PlatError `usage` if it cannot be opened
 */
function beginningOf(file: string): Buffer {
  const bytes = Buffer.alloc(BEGINNING);
  const descriptor = readingFrom(file, () => openSync(file, 'r'));
  try {
    const read = bytes.subarray(0, readSync(descriptor, bytes));
    return isGzip(read) ? gunzipSync(read, { finishFlush: constants.Z_SYNC_FLUSH }) : read;
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}

/** @throws PlatError `usage` if the system refuses it, for instance since the user has no permission */
function readingFrom<T>(file: string, access: () => T): T {
  try {
    return access();
  } catch (cause) {
    throw usageError(`${file} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}

/**
 * @returns the first bytes in UTF-8
 * @throws PlatError `usage` for a file that plat does not read, or that has another format than the given one
 */
export function mustHoldText(name: string, form: FileFormat, bytes: Buffer): Buffer {
  const found = kindOf(bytes);
  if (found.kind === 'foreign') {
    throw usageError(`${name} is ${found.what}; ${found.remedy.replace('FILE', name)}.`);
  }
  if (found.kind === 'sqlite') {
    throw usageError(
      `${name} is an SQLite database; if it is a store, "plat export" or "plat copy" with --store ${name} extracts its records.`,
    );
  }
  if (form !== 'json' && found.kind === 'json') {
    throw usageError(`${name} contains JSON, not a table; --format json reads it.`);
  }
  if (form === 'json' && found.kind === 'table') {
    throw usageError(
      `${name} looks like a table (${found.header}…), not like JSON; use --format csv or --format tsv, or a file name that ends in .csv or .tsv.`,
    );
  }
  return textOfBeginning(bytes);
}

export const singlePassFiles = (paths: readonly string[], asked: FileFormat | undefined): InputFiles => ({
  files: paths.map((path) => inputFile(path, asked)),
  [Symbol.dispose]: () => undefined,
});

/** Returns regular files as they are, and private copies of everything else, which are removed when they are disposed of. */
export async function rereadableFiles(
  paths: readonly string[],
  asked: FileFormat | undefined,
  signal: AbortSignal,
): Promise<InputFiles> {
  let folder: string | undefined;
  using owned = new DisposableStack();
  const files: InputFile[] = [];
  for (const [index, path] of paths.entries()) {
    const file = inputFile(path, asked);
    if (path !== '-' && statSync(path).isFile()) {
      files.push(file);
      continue;
    }
    if (folder === undefined) {
      const made = mkdtempSync(join(tmpdir(), 'plat-import-'));
      owned.defer(() => rmSync(made, { recursive: true, force: true }));
      folder = made;
    }
    const copy = join(folder, String(index));
    const from = path === '-' ? process.stdin : createReadStream(path);
    try {
      await pipeline(from, createWriteStream(copy, { mode: 0o600 }), { signal });
    } catch (error) {
      if (!signal.aborted) throw writeError(error, `A copy of ${path === '-' ? 'stdin' : path} in ${folder}`);
      break;
    }
    files.push({ ...file, path: copy });
  }
  const kept = owned.move();
  return { files, [Symbol.dispose]: () => kept.dispose() };
}
