import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { platError } from '../../errors/index.ts';

/** A file (or stdin) as text, and how much of it was read. */
export interface TextSource {
  readonly chunks: AsyncIterable<string>;
  /** Bytes in all, as they lie on the disk; undefined for stdin. */
  readonly size: number | undefined;
  readonly read: () => number;
}

/** @param file a path, read as it is also when it ends in `.gz`; `-` is stdin */
export function openText(file: string): TextSource {
  let read = 0;
  const raw = file === '-' ? process.stdin : openFile(file);
  raw.on('data', (chunk: Buffer | string) => {
    read += chunk.length;
  });
  const plain: Readable = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  if (plain !== raw) raw.on('error', (error) => plain.destroy(error));
  return { chunks: decode(plain), size: file === '-' ? undefined : statSync(file).size, read: () => read };
}

function openFile(file: string): Readable {
  try {
    if (!statSync(file).isFile()) throw new Error('it is no file');
  } catch (cause) {
    throw platError('usage', { reason: `${file} cannot be read.` }, { cause });
  }
  return createReadStream(file, { highWaterMark: 1 << 20 });
}

/** Bytes that are no UTF-8 become the replacement character; the records that hold it are read all the same. */
async function* decode(stream: Readable): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
