/**
 * Whether bytes that the file gave can be what plat wrote there. The file has no checksums, and texts are joined by the
 * engine without being read, so this is where a damaged text is noticed before it leaves the store.
 */
import { isUtf8 } from 'node:buffer';
import { Damage } from '../damage.ts';

/**
 * Up to this size a body is read through, which takes some 20 µs. To do so with a page of 1000 records would take five
 * times as long as to make it (docs/recovery.md), so of large bodies only the encoding is looked at, for 4 %.
 */
const READ_THROUGH = 16 * 1024;

/**
 * A body of records joined by commas, as it came.
 * @throws Damage for one that is no UTF-8 or holds a zero byte, as a block of a disk that was lost does
 */
export function wholeText(body: Uint8Array): Uint8Array {
  if (!isUtf8(body) || body.includes(0)) throw new Damage('a text in its file is not as it was written');
  return body;
}

/** @throws Damage for a small body that is no JSON, before it is sent to somebody who cannot do anything about it */
export function mustBeJson(body: Uint8Array): void {
  if (body.length > 0 && body.length <= READ_THROUGH && !isJson(body)) {
    throw new Damage('a text in its file is no JSON any more');
  }
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(`[${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()}]`);
    return true;
  } catch {
    return false;
  }
}
