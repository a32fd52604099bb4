/** Compresses bodies. It must not know what is in them. */
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { Encoding } from '../http/negotiation.ts';

/** Smaller bodies fit into one packet without compression. */
const SMALLEST = 1400;
/** The largest chunk of output: every chunk costs a round trip to another thread. */
const LARGEST_PIECE = 512 * 1024;
/** The compression ratio to expect. */
const SHARE = 4;

/**
 * A compressor at a level that takes much less time than reading the page; higher levels would cost more than they save.
 *
 * @param size bytes to compress
 */
function compressor(encoding: Encoding, size: number): Transform {
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
 * A body in the encoding of the response, as one member, compressed on another thread; undefined if it stays as it is. The parts
 * are not joined first.
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
