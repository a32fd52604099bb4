/**
 * The shared memory in which a thread passes pages to the main thread, without garbage there. It does not know what a page
 * consists of.
 */
import { type OwnedBody, PageMemory, SMALLEST } from '../page-memory.ts';

/** A body that is in shared memory until that is returned. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}

interface Outbox {
  /** Makes memory for a body that is to be sent. */
  body(length: number): OwnedBody;
  /** A body in shared memory, to which it is copied if it is not there; undefined when it is too small to be worth it. */
  put(body: Uint8Array): SharedBody | undefined;
  /** Takes back memory that the main thread has finished with. */
  release(memory: SharedArrayBuffer): void;
}

export function makeOutbox(): Outbox {
  const memory = new PageMemory((length) => new SharedArrayBuffer(length));
  return {
    body: memory.body,
    put(body) {
      const { buffer, length } = body;
      if (buffer instanceof SharedArrayBuffer) return { memory: buffer, length };
      if (length < SMALLEST) return undefined;
      const shared = memory.take(length);
      new Uint8Array(shared).set(body);
      return { memory: shared, length };
    },
    release: (shared) => memory.release(shared),
  };
}
