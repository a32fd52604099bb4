/** Compresses response bodies. It must not know their content. */
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import { PageMemory } from '../../store/read/page-memory.ts';
import type { Encoding } from '../http/negotiation.ts';

/** The minimum size of a compressed body; smaller ones fit into one packet without compression. */
const SMALLEST = 1400;
/** The maximum size of a chunk of output. Chunks are large because each costs a round trip to another thread. */
const LARGEST_PIECE = 512 * 1024;
/** The expected compression ratio. */
const SHARE = 4;

/**
 * A compressor at a level that takes much less time than reading the page; higher levels would cost more than they save.
 *
 * @param size the number of bytes to compress
 * @param chunkSize bytes of its output that have memory of their own
 */
function compressor(encoding: Encoding, size: number, chunkSize: number): Transform {
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

/** A body in an encoding; `release` frees its memory once it has been sent. */
interface Encoded {
  readonly body: readonly Uint8Array[];
  readonly release: () => void;
}

/**
 * The memory of compressed bodies. The main thread creates little other garbage while a client walks compressed pages, so the
 * compressors' own memory of forty responses would wait for the garbage collector.
 */
const memory = new PageMemory((length) => new ArrayBuffer(length, { maxByteLength: length }));

/**
 * Compresses a body on another thread, as one member, without joining its parts first; undefined if the body stays uncompressed.
 */
export async function compressBody(
  encoding: Encoding | undefined,
  body: readonly Uint8Array[],
): Promise<Encoded | undefined> {
  const size = body.reduce((sum, part) => sum + part.length, 0);
  if (encoding === undefined || size < SMALLEST) return undefined;
  const chunkSize = Math.min(LARGEST_PIECE, Math.max(SMALLEST, Math.ceil(size / SHARE)));
  const stream = compressor(encoding, size, chunkSize);
  for (const part of body) stream.write(part);
  stream.end();
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const made = memory.body(length);
  let at = 0;
  for (const piece of pieces) at += piece.copy(made.body, at);
  // Smaller chunks are parts of the memory that all small buffers of Node share.
  if (chunkSize > Buffer.poolSize) for (const { buffer } of pieces) discard(buffer);
  return { body: [made.body], release: () => made.release?.() };
}

/** Frees memory at once. Several pieces may be in the same. */
function discard(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
