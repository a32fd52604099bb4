/**
 * One gzip member (RFC 1952) of parts that were deflated one by one. Each part is raw deflate that ends in a full flush, so it
 * ends on a byte and refers to nothing before it; parts that were not deflated go between them as stored blocks, and the
 * checksum is combined from those of the parts. This module knows nothing of what the parts are.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';

export interface Deflated {
  readonly bytes: Uint8Array;
  /** The CRC-32 of the uncompressed part. */
  readonly crc: number;
  readonly length: number;
  /** x^(8 length) modulo the polynomial of the checksum, which appends the part to a checksum. */
  readonly shift: number;
}

/** Parts that were deflated, with commas between them. */
export interface DeflatedList {
  readonly parts: readonly Deflated[];
  /** The length of the whole text. */
  readonly length: number;
}

const deflating = promisify(deflateRaw);

/** The smallest output buffer, in bytes: each chunk of output costs a turn of the event loop. */
const SMALLEST_CHUNK = 1024;

/** Deflates a part off the calling thread. */
export async function deflatePart(text: Uint8Array, level: number): Promise<Deflated> {
  return makeDeflated(text, await deflating(text, optionsOf(text, level)));
}

/** Deflates a part. */
export const deflatePartNow = (text: Uint8Array, level: number): Deflated =>
  makeDeflated(text, deflateRawSync(text, optionsOf(text, level)));

const optionsOf = ({ length }: Uint8Array, level: number): ZlibOptions => ({
  level,
  chunkSize: Math.max(SMALLEST_CHUNK, Math.ceil(length / 3)),
  finishFlush: constants.Z_FULL_FLUSH,
});

const makeDeflated = (text: Uint8Array, bytes: Uint8Array): Deflated =>
  deflatedFrom(bytes, crc32(text), text.length);

/**
 * A copy without the spare capacity of the compressor's buffer, in memory pages of its own: the memory of a resizable buffer
 * returns to the operating system as soon as the buffer is garbage-collected. Parts live long; allocated by malloc, they would
 * fragment the heap.
 */
function copied(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const copy = new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }), 0, length);
  copy.set(bytes);
  return copy;
}

/** A part from bytes that were deflated earlier. @param crc of the uncompressed part @param length of the uncompressed part */
export const deflatedFrom = (bytes: Uint8Array, crc: number, length: number): Deflated => {
  return { bytes: copied(bytes), crc, length, shift: shiftOf(length) };
};

/** @param parts must not contain empty parts */
export function deflatedList(parts: readonly Deflated[]): DeflatedList {
  const commas = Math.max(0, parts.length - 1);
  return { parts, length: parts.reduce((sum, { length }) => sum + length, commas) };
}

/** The member, in pieces that can be written one after the other. */
export function gzipMember(parts: readonly (Uint8Array | DeflatedList)[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [HEADER];
  let crc = 0;
  let size = 0;
  for (const part of parts) {
    size += part.length;
    if (part instanceof Uint8Array) {
      crc = crc32(part, crc);
      pieces.push(...storedBlocks(part));
      continue;
    }
    for (const [index, deflated] of part.parts.entries()) {
      if (index > 0) {
        crc = crc32(COMMA, crc);
        pieces.push(STORED_COMMA);
      }
      crc = (multiplyModulo(deflated.shift, crc) ^ deflated.crc) >>> 0;
      pieces.push(deflated.bytes);
    }
  }
  const trailer = Buffer.from([...END, 0, 0, 0, 0, 0, 0, 0, 0]);
  trailer.writeUInt32LE(crc, END.length);
  trailer.writeUInt32LE(size >>> 0, END.length + 4);
  return [...pieces, trailer];
}

/** The header of a member: deflate, no name, no time, an unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** The final block: an empty stored block. */
const END = [1, 0, 0, 0xff, 0xff];
const COMMA = Buffer.from(',');
const LARGEST_STORED = 0xffff;

function storedBlocks(bytes: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += LARGEST_STORED) {
    const part = bytes.subarray(at, at + LARGEST_STORED);
    const { length } = part;
    const inverse = ~length & LARGEST_STORED;
    blocks.push(Buffer.from([0, length & 0xff, length >> 8, inverse & 0xff, inverse >> 8]), part);
  }
  return blocks;
}

const STORED_COMMA = Buffer.concat(storedBlocks(COMMA));

/** The polynomial of the checksum, its bits reversed; x^0 is the highest bit. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** The product of two polynomials modulo that of the checksum. */
function multiplyModulo(left: number, right: number): number {
  let product = 0;
  let factor = right;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) product ^= factor;
    factor = (factor & 1) !== 0 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}

/** x^(2^n) for n up to 31. */
const POWERS: readonly number[] = powers();

function powers(): number[] {
  const found = [ONE >>> 1];
  for (let power = ONE >>> 1; found.length < 32; found.push(power)) power = multiplyModulo(power, power);
  return found;
}

/** x^(8 length). */
function shiftOf(length: number): number {
  let shift = ONE;
  let bits = length * 8;
  for (let power = 0; bits > 0; power++) {
    if (bits % 2 === 1) shift = multiplyModulo(POWERS[power % 32] ?? ONE, shift);
    bits = Math.floor(bits / 2);
  }
  return shift;
}
