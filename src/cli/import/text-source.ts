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
    chunks: isPacked ? unpacked(raw) : raw.setEncoding('latin1'),
    size: file === '-' ? undefined : statSync(file).size,
    read: () => read,
  };
}

/**
 * What a packed file holds, up to where it cannot be read on; only then is that told. A stream that fails drops what
 * nobody has taken of it yet, so all is taken before more is put in.
 */
async function* unpacked(raw: AsyncIterable<Buffer>): AsyncIterable<string> {
  const unzip = createGunzip();
  let pieces: Buffer[] = [];
  unzip.on('data', (piece: Buffer) => void pieces.push(piece));
  const fault = new Promise<Error>((resolve) => void unzip.once('error', resolve));
  const ended = new Promise<void>((resolve) => void unzip.once('end', resolve));
  async function* take(): AsyncIterable<string> {
    const taken = pieces;
    pieces = [];
    let size = 0;
    for (const piece of taken) {
      yield piece.toString('latin1');
      size += piece.length;
      if (size < UNPACKED) continue;
      size = 0;
      await nextTurn();
    }
  }
  for await (const chunk of raw) {
    const written = new Promise<Error | undefined>((resolve) => {
      unzip.write(chunk, (error) => resolve(error ?? undefined));
    });
    const failed = await Promise.race([fault, written]);
    yield* take();
    if (failed !== undefined) throw failed;
  }
  unzip.end();
  const failed = await Promise.race([fault, ended.then(() => undefined)]);
  yield* take();
  if (failed !== undefined) throw failed;
}
