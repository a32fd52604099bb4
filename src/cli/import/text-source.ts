/**
 * Opens a file as UTF-8 text: gzip is decompressed and UTF-16 decoded. A damaged gzip stream is read up to the damage. This
 * module knows nothing of records.
 */
import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { DETECTION_BYTES, isGzip, utf16Of } from '../../shared/file-kind.ts';
import { type InputFile, mustHoldText } from './input-files.ts';

export interface TextSource {
  /** The text in UTF-8. Text in another encoding that cannot be detected is reported record by record. */
  readonly chunks: AsyncIterable<Buffer>;
  /** The first bytes, decompressed and in UTF-8; none if the file is empty. */
  readonly beginning: Buffer;
  /** The number of bytes read so far, before decompression. */
  readonly read: () => number;
}

/** The number of compressed bytes that are decompressed at once; they can expand a thousandfold. */
const PACKED = 1 << 16;
/** The number of bytes of a file that are read at once. */
const PLAIN = 1 << 20;
/** The number of decompressed bytes that are yielded before signals and timers are processed. */
const UNPACKED = 1 << 20;

/**
 * Opens a plain or gzipped file, as its bytes indicate, in UTF-8 or UTF-16.
 * @param signal aborts reading, also from a silent terminal or pipe: the next read throws
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
  const bytes = await peek(raw);
  // A file named .gz that contains neither gzip nor text is decompressed, in order to report what is wrong with it.
  const isPacked = isGzip(bytes.beginning) || (file.endsWith('.gz') && !isJson(bytes.beginning));
  const text = isPacked && bytes.beginning.length > 0 ? await peek(decompress(bytes.all, file)) : bytes;
  const beginning = mustHoldText(name, form, text.beginning);
  const utf16 = utf16Of(text.beginning);
  const chunks = utf16 === undefined ? text.all : decode(text.all, utf16);
  return { chunks, beginning, read: () => read };
}

const isJson = (bytes: Buffer): boolean =>
  /^(?:\xef\xbb\xbf)?\s*[[{]/.test(bytes.toString('latin1', 0, DETECTION_BYTES));

/** The first bytes of a stream, and the whole stream. */
async function peek(
  raw: AsyncIterable<Buffer>,
): Promise<{ readonly beginning: Buffer; readonly all: AsyncIterable<Buffer> }> {
  const iterator = raw[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  let failed: { readonly error: unknown } | undefined;
  while (size < DETECTION_BYTES) {
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
    try {
      yield* first;
      if (failed !== undefined) throw failed.error;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      // Close the file if the reader needs only the beginning.
      await iterator.return?.();
    }
  }
  return { beginning: Buffer.concat(first).subarray(0, DETECTION_BYTES), all: all() };
}

async function* decode(raw: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of raw) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  decoder.decode();
}

/**
 * Decompresses a file up to the first damage, and throws only then. A decoder that fails discards what it has decompressed of the
 * current chunk, so another decoder decompresses that chunk again, byte by byte.
 */
async function* decompress(raw: AsyncIterable<Buffer>, file: string): AsyncIterable<Buffer> {
  const unpacker = new Unpacker();
  let read = 0;
  let given = 0;
  for await (const chunk of splitPieces(raw)) {
    const failed = await unpacker.put(chunk);
    const pieces = unpacker.take();
    for (const piece of pieces) given += piece.length;
    yield* yieldInTurns(pieces);
    if (failed !== undefined) {
      yield* decompressBytewise(file, read, read + chunk.length, given);
      throw failed;
    }
    read += chunk.length;
  }
  const failed = await unpacker.end();
  yield* yieldInTurns(unpacker.take());
  if (failed !== undefined) throw failed;
}

/**
 * Decompresses a part of a file byte by byte.
 * @param given number of decompressed bytes that have been yielded already
 */
async function* decompressBytewise(
  file: string,
  from: number,
  to: number,
  given: number,
): AsyncIterable<Buffer> {
  if (file === '-' || !statSync(file).isFile()) return; // a pipe cannot be read again
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
      if ((await unpacker.put(chunk)) !== undefined) return; // the file has been replaced
      rest();
    }
  }
  const end = Math.max(from, to - 1);
  for await (const chunk of createReadStream(file, { highWaterMark: PACKED, start: from, end })) {
    const bytes: Buffer = chunk;
    for (let at = 0; at < bytes.length; at++) {
      const failed = await unpacker.put(bytes.subarray(at, at + 1));
      yield* yieldInTurns(rest());
      if (failed !== undefined) return;
    }
  }
}

async function* splitPieces(raw: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  for await (const chunk of raw) {
    for (let at = 0; at < chunk.length; at += PACKED) yield chunk.subarray(at, at + PACKED);
  }
}

/** Yields pieces, and lets signals and timers be processed in between. */
async function* yieldInTurns(pieces: readonly Buffer[]): AsyncIterable<Buffer> {
  let size = 0;
  for (const piece of pieces) {
    yield piece;
    size += piece.length;
    if (size < UNPACKED) continue;
    size = 0;
    await nextTurn();
  }
}

/** A gzip decoder. One that fails discards its pending output, so all output is taken before more input is given. */
class Unpacker {
  readonly #unzip = createGunzip();
  readonly #fault = new Promise<Error>((resolve) => void this.#unzip.once('error', resolve));
  readonly #ended = new Promise<void>((resolve) => void this.#unzip.once('end', resolve));
  #pieces: Buffer[] = [];

  constructor() {
    this.#unzip.on('data', (piece: Buffer) => void this.#pieces.push(piece));
  }

  /** @returns why these bytes cannot be decompressed */
  put(chunk: Buffer): Promise<Error | undefined> {
    const written = new Promise<Error | undefined>((resolve) => {
      this.#unzip.write(chunk, (error) => resolve(error ?? undefined));
    });
    return Promise.race([this.#fault, written]);
  }

  /** @returns why the input is incomplete */
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
