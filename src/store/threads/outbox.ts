/**
 * The shared memory in which a thread passes pages to the main thread, without a copy and without garbage there. It does not
 * know what a page consists of.
 */
import { PageMemory, SMALLEST } from '../page-memory.ts';

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
  const memory = new PageMemory((length) => new SharedArrayBuffer(length));
  return {
    put(body) {
      if (body.length < SMALLEST) return undefined;
      const shared = memory.take(body.length);
      new Uint8Array(shared).set(body);
      return { memory: shared, length: body.length };
    },
    release: (shared) => memory.release(shared),
  };
}
