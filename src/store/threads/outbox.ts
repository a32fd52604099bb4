import { type Reported, reportCache } from '../../shared/bounded-cache.ts';

/**
 * Memory in which a thread hands pages to the main thread. A page of five megabytes in a buffer of its own would make
 * the collector of the main thread run for every few pages; shared memory that goes back and forth does not.
 */

/** Bodies below this size travel as they are. */
const SMALLEST = 64 * 1024;
/** A body above this size gets memory of its own, which is not kept. */
const LARGEST_KEPT = 64 * 1024 * 1024;
/** Buffers that a thread keeps for use again. */
const KEPT = 3;

/** A body that lies in shared memory until it is given back. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}

export interface Outbox {
  /** The body in shared memory; undefined when it is too small to be worth it. */
  put(body: Uint8Array): SharedBody | undefined;
  /** Takes memory back that the main thread has done with. */
  release(memory: SharedArrayBuffer): void;
}

export function makeOutbox(): Outbox {
  const free: SharedArrayBuffer[] = [];
  const take = (length: number): SharedArrayBuffer => {
    const index = free.findIndex((memory) => memory.byteLength >= length);
    const [found] = index < 0 ? [] : free.splice(index, 1);
    // Somewhat larger than asked for, so that the next page fits, too.
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
