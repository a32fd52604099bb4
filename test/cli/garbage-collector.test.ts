/** When a consumer collects its garbage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collector } from '../../src/cli/garbage-collector.ts';

/** A heap in which so many bytes live. */
function heapOf(living: number) {
  const heap = { bytes: living, living, collected: 0 };
  const collect = collector({
    used: () => heap.bytes,
    collect: () => {
      heap.collected++;
      heap.bytes = heap.living;
    },
  });
  return { heap, collect };
}

test('a heap is collected once it has 45 MB', () => {
  const { heap, collect } = heapOf(25_000_000);
  for (const bytes of [44_000_000, 46_000_000, 26_000_000, 45_000_000]) {
    heap.bytes = bytes;
    collect();
  }
  assert.equal(heap.collected, 2);
});

test('a heap in which more is alive is collected once it has grown by six tenths', () => {
  const { heap, collect } = heapOf(60_000_000);
  collect();
  assert.equal(heap.collected, 1);
  for (const bytes of [60_000_000, 95_000_000]) {
    heap.bytes = bytes;
    collect();
  }
  assert.equal(heap.collected, 1);
  heap.bytes = 97_000_000;
  collect();
  assert.equal(heap.collected, 2);
});
