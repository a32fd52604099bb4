import { type Reported, reportCache } from '../../shared/bounded-cache.ts';

/**
 * Shared memory in which a thread passes pages to the main thread. If each page of five megabytes had a buffer of its
 * own, the garbage collector of the main thread would run for every few pages; reused shared memory avoids that.
 */

/** Smaller bodies are sent as they are. */
const SMALLEST = 64 * 1024;
/** A larger body gets memory of its own, which is not reused. */
const LARGEST_KEPT = 64 * 1024 * 1024;
/** Buffers that a thread keeps for reuse. */
const KEPT = 3;

/** A body that is in shared memory until that is returned. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}

interface Outbox {
  /** Copies a body to shared memory; undefined when it is too small to be worth it. */
  put(body: Uint8Array): SharedBody | undefined;
  /** Takes back memory that the main thread has finished with. */
  release(memory: SharedArrayBuffer): void;
}

export function makeOutbox(): Outbox {
  const free: SharedArrayBuffer[] = [];
  const take = (length: number): SharedArrayBuffer => {
    const index = free.findIndex((memory) => memory.byteLength >= length);
    const [found] = index < 0 ? [] : free.splice(index, 1);
    // Somewhat larger than requested, so that the next page fits as well.
    return found ?? new SharedArrayBuffer(Math.ceil(length * 1.25));
  };
  const outbox: Outbox & Reported = {
    get use() {
      return { entries: free.length, bytes: free.reduce((sum, { byteLength }) => sum + byteLength, 0) };
    },
    put(body) {
      if (body.length < SMALLEST) return undefined;
      const memory = take(body.length);
      new Uint8Array(memory).set(body);
      return { memory, length: body.length };
    },
    release(memory) {
      if (free.length < KEPT && memory.byteLength <= LARGEST_KEPT) free.push(memory);
    },
  };
  reportCache('page buffers', outbox);
  return outbox;
}
