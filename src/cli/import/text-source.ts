import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A file (or stdin), and how much of it was read. */
export interface TextSource {
  /** Its bytes, each as the character of its number: what is no UTF-8 is told where the records are known. */
  readonly chunks: AsyncIterable<string>;
  /** Bytes in all, as they lie on the disk; undefined for stdin. */
  readonly size: number | undefined;
  readonly read: () => number;
}

/** @param file a path, read as it is also when it ends in `.gz`; `-` is stdin */
export function openText(file: string): TextSource {
  let read = 0;
  const raw = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
  raw.on('data', (chunk: Buffer | string) => {
    read += chunk.length;
  });
  const plain: Readable = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  if (plain !== raw) raw.on('error', (error) => plain.destroy(error));
  return {
    chunks: plain.setEncoding('latin1'),
    size: file === '-' ? undefined : statSync(file).size,
    read: () => read,
  };
}
