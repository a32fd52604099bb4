import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { Encoding } from '../http/negotiation.ts';

/** Bodies smaller than this fit into one packet as they are. */
const SMALLEST = 1400;
/** Bytes that come out at a time at the most: each time costs a way to another thread and back. */
const LARGEST_PIECE = 512 * 1024;
/** About how much of a body is left. */
const SHARE = 4;

/**
 * Levels that keep a page well below the time it takes to read it; more would cost more than it saves.
 * @param size bytes of what is to be compressed
 */
export function compressor(encoding: Encoding, size: number): Transform {
  const chunkSize = Math.min(LARGEST_PIECE, Math.max(SMALLEST, Math.ceil(size / SHARE)));
  switch (encoding) {
    case 'gzip':
      return createGzip({ level: 2, chunkSize }); // as fast as 1, and a tenth smaller
    case 'br':
      return createBrotliCompress({
        chunkSize,
        params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: size },
      });
    case 'zstd':
      return createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  }
}

/**
 * A body in the encoding that the client asked for, in one member, made off the main thread; undefined when it stays
 * as it is. The parts are not put together first.
 */
export async function compressBody(
  encoding: Encoding | undefined,
  body: readonly Uint8Array[],
): Promise<readonly Uint8Array[] | undefined> {
  const size = body.reduce((sum, part) => sum + part.length, 0);
  if (encoding === undefined || size < SMALLEST) return undefined;
  const stream = compressor(encoding, size);
  for (const part of body) stream.write(part);
  stream.end();
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}
