import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Encoding } from './accept.ts';

/** Bodies smaller than this fit into one packet as they are. */
const SMALLEST = 1400;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);
const zstded = promisify(zstdCompress);

/** Levels that keep a page well below the time it takes to read it; more would cost more than it saves. */
function compress(encoding: Encoding, bytes: Uint8Array): Promise<Uint8Array> {
  switch (encoding) {
    case 'gzip':
      return gzipped(bytes, { level: 1 });
    case 'br':
      return brotlied(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      });
    case 'zstd':
      return zstded(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  }
}

/** A body in the encoding that the client asked for, off the main thread; undefined when it stays as it is. */
export async function compressBody(
  encoding: Encoding | undefined,
  body: readonly Uint8Array[],
): Promise<Uint8Array | undefined> {
  const size = body.reduce((sum, part) => sum + part.length, 0);
  if (encoding === undefined || size < SMALLEST) return undefined;
  return compress(encoding, body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body));
}
