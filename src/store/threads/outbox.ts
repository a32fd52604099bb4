/**
 * The shared memory through which a thread passes pages to the main thread without creating garbage there. It does not
 * know the content of a page.
 */
import { type OwnedBody, PageMemory, SMALLEST } from '../read/page-memory.ts';

/** A body that stays in shared memory until the memory is returned. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}

interface Outbox {
  /** Allocates memory for a body that will be sent. */
  body(length: number): OwnedBody;
  /** Returns a body in shared memory, and copies it there if necessary; undefined if it is too small to be worth it. */
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
