/**
 * Collects garbage between two pages in a process that stores pages. By itself, V8 would let the heap grow and begin in the middle
 * of a page, when most objects are still alive but soon will not be, which costs a consumer time and memory.
 */
import { getHeapSpaceStatistics } from 'node:v8';

interface Heap {
  /** The number of bytes in use outside of the young generation, including garbage. */
  used(): number;
  collect(): void;
}

/** The heap of this thread, if bin/plat.js has exposed its garbage collection (`--expose-gc`). */
export const threadHeap = (): Heap | undefined => {
  const { gc } = globalThis;
  return gc && { used: usedByOld, collect: () => gc() };
};

/** Spaces whose garbage V8 collects by itself, often and in little time. */
const YOUNG = new Set(['new_space', 'new_large_object_space']);

const usedByOld = (): number =>
  getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: size }) => (YOUNG.has(name) ? sum : sum + size),
    0,
  );

/** The number of bytes in use up to which nothing is collected. */
const SMALL = 45_000_000;
/** The ratio of bytes in use to the bytes that were alive after the last collection, above which garbage is collected. */
const GROWTH = 1.6;

/** A function that collects garbage if the heap has grown enough since the last time. */
export function collector(heap: Heap): () => void {
  let limit = SMALL;
  return () => {
    if (heap.used() < limit) return;
    heap.collect();
    limit = Math.max(SMALL, heap.used() * GROWTH);
  };
}
