import { createReadStream, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';

/** A file (or stdin), and how much of it was read. */
export interface TextSource {
  /** Its bytes, each as the character of its number: what is no UTF-8 is told where the records are known. */
  readonly chunks: AsyncIterable<string>;
  /** Bytes in all, as they lie on the disk; undefined for stdin. */
  readonly size: number | undefined;
  readonly read: () => number;
}

/** Bytes of a packed file that are unpacked at once; a thousand times as many may come of them. */
const PACKED = 1 << 16;
/** Bytes of what comes of them that are given before a signal, or a timer, has its turn. */
const UNPACKED = 1 << 20;

/** @param file a path, read as it is also when it ends in `.gz`; `-` is stdin */
export function openText(file: string): TextSource {
  let read = 0;
  const isPacked = file.endsWith('.gz');
  const raw =
    file === '-' ? process.stdin : createReadStream(file, { highWaterMark: isPacked ? PACKED : 1 << 20 });
  raw.on('data', (chunk: Buffer | string) => {
    read += chunk.length;
  });
  return {
    chunks: isPacked ? unpacked(raw, file) : raw.setEncoding('latin1'),
    size: file === '-' ? undefined : statSync(file).size,
    read: () => read,
  };
}

/**
 * What a packed file holds, up to where it cannot be read on; only then is that told. What a decoder has unpacked of the
 * bytes at which it fails is lost with it, so these are given once more to another one, each alone.
 */
async function* unpacked(raw: AsyncIterable<Buffer>, file: string): AsyncIterable<string> {
  const unpacker = new Unpacker();
  let read = 0;
  let given = 0;
  for await (const chunk of raw) {
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
async function* unpackedAgain(file: string, from: number, to: number, given: number): AsyncIterable<string> {
  if (!statSync(file).isFile()) return; // what was read of a pipe is gone
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

/** Pieces as characters, with turns for others between them. */
async function* told(pieces: readonly Buffer[]): AsyncIterable<string> {
  let size = 0;
  for (const piece of pieces) {
    yield piece.toString('latin1');
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
