/**
 * Collects the garbage of a process that stores pages, between two of them. V8 would begin in the middle of a page, when most of
 * the objects are alive and soon will not be, and lets the heap grow meanwhile; both cost a consumer time and memory.
 */
import { getHeapStatistics } from 'node:v8';

interface Heap {
  /** Bytes in use, garbage included. */
  used(): number;
  collect(): void;
}

/** The heap of this thread, if bin/plat.js has exposed its garbage collection (`--expose-gc`). */
export const threadHeap = (): Heap | undefined => {
  const { gc } = globalThis;
  return gc && { used: () => getHeapStatistics().used_heap_size, collect: () => gc() };
};

/** Bytes up to which nothing is collected. */
const SMALL = 50_000_000;
/** How many times the bytes that were alive may be in use. */
const GROWTH = 1.5;

/** A function that collects garbage if the heap has grown enough since the last time. */
export function collector(heap: Heap): () => void {
  let limit = SMALL;
  return () => {
    if (heap.used() < limit) return;
    heap.collect();
    limit = Math.max(SMALL, heap.used() * GROWTH);
  };
}
