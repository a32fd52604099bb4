import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RequestFailure } from '../http/failure.ts';

export const tooLarge = (largest: number): RequestFailure =>
  new RequestFailure('too-large', `The file is larger than ${largest} bytes`);

/**
 * Writes the content of a stranger's file to a new file, whole or not at all: what is too large is broken off at the
 * limit, whatever its host said of its length.
 * @param path where nothing is yet
 * @param look sees every piece that is written
 * @returns the number of bytes
 * @throws RequestFailure for content that is empty or larger; what the content throws; what the file system throws
 */
export async function takeFile(
  content: AsyncIterable<Uint8Array>,
  path: string,
  largest: number,
  look: (piece: Uint8Array) => void = () => undefined,
): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > largest) throw tooLarge(largest);
      look(piece);
      yield piece;
    }
  }
  try {
    await pipeline(Readable.from(counted()), createWriteStream(path, { flags: 'wx', flush: true }));
    if (bytes === 0) throw new RequestFailure('rejected', 'The file is empty');
    return bytes;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
