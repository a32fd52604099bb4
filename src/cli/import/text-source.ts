import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { platError } from '../../errors/index.ts';
import { BEGINNING, isGzip, utf16Of } from '../../shared/file-kind.ts';
import { mustBeFile } from '../paths.ts';
import { type FileForm, mustHoldText } from './file-form.ts';

/** A file (or stdin), and how much of it was read. */
export interface TextSource {
  /** Its text in UTF-8, unless it is in something else that cannot be told: the records say so. */
  readonly chunks: AsyncIterable<Buffer>;
  /** The first bytes of it, unpacked and in UTF-8; none: it is empty. */
  readonly beginning: Buffer;
  /** Bytes that were read, as they lie on the disk. */
  readonly read: () => number;
}

/** A file to be read. */
export interface InputFile {
  /** Where it is; `-` is stdin. */
  readonly path: string;
  /** How messages name it. */
  readonly name: string;
  readonly form: FileForm;
}

/** Bytes of a packed file that are unpacked at once; a thousand times as many may come of them. */
const PACKED = 1 << 16;
/** Bytes of a file that are read at once. */
const PLAIN = 1 << 20;
/** Bytes of what comes of them that are given before a signal, or a timer, has its turn. */
const UNPACKED = 1 << 20;

/**
 * Opens a file that is plain or packed by gzip, as its bytes say, in UTF-8 or UTF-16.
 * @param signal ends the reading, also of a terminal or a pipe that gives nothing: the next read throws
 * @throws PlatError `usage` for a file of another kind
 */
export async function openText(
  { path: file, name, form }: InputFile,
  signal: AbortSignal,
): Promise<TextSource> {
  let read = 0;
  const raw = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: PLAIN });
  raw.on('data', (chunk: Buffer | string) => {
    read += chunk.length;
  });
  addAbortSignal(signal, raw);
  const bytes = await peeked(raw);
  // A name that says so is believed where the bytes are no text either, so that it is told what is wrong with them.
  const isPacked = isGzip(bytes.beginning) || (file.endsWith('.gz') && !isJson(bytes.beginning));
  const text = isPacked && bytes.beginning.length > 0 ? await peeked(unpacked(bytes.all, file)) : bytes;
  const beginning = mustHoldText(name, form, text.beginning);
  const utf16 = utf16Of(text.beginning);
  const chunks = utf16 === undefined ? text.all : decoded(text.all, utf16);
  return { chunks, beginning, read: () => read };
}

/**
 * Looks at a file before anything is stored; what is no plain file, such as a pipe, is looked at when it is read.
 * @throws PlatError `usage` for a file of a kind that plat does not read
 */
export function mustBeReadable(file: string, form: FileForm): void {
  if (file === '-') return;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    const example = join(file, '*.json');
    const reason = `${file} is a folder, not a file: name the files in it, such as ${example}.`;
    throw platError('usage', { reason });
  }
  mustBeFile(file);
  if (statSync(file).isFile()) mustHoldText(file, form, beginningOf(file));
}

/** The first bytes of a file, unpacked if it is packed; none where it cannot be read, which is told when it is. */
function beginningOf(file: string): Buffer {
  const bytes = Buffer.alloc(PACKED);
  try {
    const descriptor = openSync(file, 'r');
    try {
      const held = bytes.subarray(0, readSync(descriptor, bytes));
      return isGzip(held) ? gunzipSync(held, { finishFlush: constants.Z_SYNC_FLUSH }) : held;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

const isJson = (bytes: Buffer): boolean =>
  /^(?:\xef\xbb\xbf)?\s*[[{]/.test(bytes.toString('latin1', 0, BEGINNING));

/** The first bytes of a stream, and all of them. */
async function peeked(
  raw: AsyncIterable<Buffer>,
): Promise<{ readonly beginning: Buffer; readonly all: AsyncIterable<Buffer> }> {
  const iterator = raw[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  let failed: { readonly error: unknown } | undefined;
  while (size < BEGINNING) {
    try {
      const { done, value } = await iterator.next();
      if (done === true) break;
      first.push(value);
      size += value.length;
    } catch (error) {
      failed = { error };
      break;
    }
  }
  async function* all(): AsyncIterable<Buffer> {
    yield* first;
    if (failed !== undefined) throw failed.error;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { beginning: Buffer.concat(first).subarray(0, BEGINNING), all: all() };
}

async function* decoded(raw: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of raw) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  decoder.decode();
}

/**
 * What a packed file holds, up to where it cannot be read on; only then is that told. What a decoder has unpacked of the
 * bytes at which it fails is lost with it, so these are given once more to another one, each alone.
 */
async function* unpacked(raw: AsyncIterable<Buffer>, file: string): AsyncIterable<Buffer> {
  const unpacker = new Unpacker();
  let read = 0;
  let given = 0;
  for await (const chunk of inPieces(raw, PACKED)) {
    const failed = await unpacker.put(chunk);
    const pieces = unpacker.take();
    for (const piece of pieces) given += piece.length;
    yield* told(pieces);
    if (failed !== undefined) {
      yield* unpackedAgain(file, read, read + chunk.length, given);
      throw failed;
    }
    read += chunk.length;
  }
  const failed = await unpacker.end();
  yield* told(unpacker.take());
  if (failed !== undefined) throw failed;
}

/**
 * What can be unpacked of a part of a file, byte by byte.
 * @param given bytes of what was unpacked that are known already
 */
async function* unpackedAgain(file: string, from: number, to: number, given: number): AsyncIterable<Buffer> {
  if (file === '-' || !statSync(file).isFile()) return; // what was read of a pipe is gone
  const unpacker = new Unpacker();
  let skipped = 0;
  const rest = (): Buffer[] =>
    unpacker.take().flatMap((piece) => {
      const known = Math.min(piece.length, given - skipped);
      skipped += known;
      return known === piece.length ? [] : [piece.subarray(known)];
    });
  if (from > 0) {
    for await (const chunk of createReadStream(file, { highWaterMark: PACKED, end: from - 1 })) {
      if ((await unpacker.put(chunk)) !== undefined) return; // it is another file by now
      rest();
    }
  }
  const end = Math.max(from, to - 1);
  for await (const chunk of createReadStream(file, { highWaterMark: PACKED, start: from, end })) {
    const bytes: Buffer = chunk;
    for (let at = 0; at < bytes.length; at++) {
      const failed = await unpacker.put(bytes.subarray(at, at + 1));
      yield* told(rest());
      if (failed !== undefined) return;
    }
  }
}

async function* inPieces(raw: AsyncIterable<Buffer>, size: number): AsyncIterable<Buffer> {
  for await (const chunk of raw) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}

/** Pieces with turns for others between them. */
async function* told(pieces: readonly Buffer[]): AsyncIterable<Buffer> {
  let size = 0;
  for (const piece of pieces) {
    yield piece;
    size += piece.length;
    if (size < UNPACKED) continue;
    size = 0;
    await nextTurn();
  }
}

/** A decoder that fails drops what nobody has taken of it yet, so all is taken before more is put in. */
class Unpacker {
  readonly #unzip = createGunzip();
  readonly #fault = new Promise<Error>((resolve) => void this.#unzip.once('error', resolve));
  readonly #ended = new Promise<void>((resolve) => void this.#unzip.once('end', resolve));
  #pieces: Buffer[] = [];

  constructor() {
    this.#unzip.on('data', (piece: Buffer) => void this.#pieces.push(piece));
  }

  /** @returns why these bytes cannot be unpacked */
  put(chunk: Buffer): Promise<Error | undefined> {
    const written = new Promise<Error | undefined>((resolve) => {
      this.#unzip.write(chunk, (error) => resolve(error ?? undefined));
    });
    return Promise.race([this.#fault, written]);
  }

  /** @returns why what was put in is not whole */
  end(): Promise<Error | undefined> {
    this.#unzip.end();
    return Promise.race([this.#fault, this.#ended.then(() => undefined)]);
  }

  take(): readonly Buffer[] {
    const taken = this.#pieces;
    this.#pieces = [];
    return taken;
  }
}
