/** How many records are asked for at once: as many as are no burden, halved when that was too much, grown back slowly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageSize } from '../../../src/replica/copy/page-size.ts';

/** Characters of a record that burdens nobody, of one of 4 kB, and of one that is a book. */
const LIGHT = 100;
const USUAL = 4000;
const HUGE = 1_000_000;

interface Watched {
  readonly size: PageSize;
  readonly sizes: number[];
  /** So many pages of the size that is asked for come well, of records of this weight. */
  good(pages: number, weight: number): void;
}

function watched(allowed: number): Watched {
  const sizes: number[] = [];
  const size = new PageSize(allowed, (event) => void (event.kind === 'page-size' && sizes.push(event.size)));
  const good = (pages: number, weight: number): void => {
    for (let page = 0; page < pages; page++) size.praise(size.now * weight, size.now);
  };
  return { size, sizes, good };
}

test('the first page is small, since the weight of its records is unknown; the next is as large as allowed', () => {
  const { size, sizes, good } = watched(1000);
  assert.equal(size.now, 50);
  good(1, LIGHT);
  assert.deepEqual([size.now, sizes], [1000, []], 'a beginning is no news');
});

test('what is allowed is never exceeded, also when it is less than the first page', () => {
  const { size, good } = watched(20);
  assert.equal(size.now, 20);
  good(100, LIGHT);
  assert.equal(size.now, 20);
});

test('pages are as large as a million characters', () => {
  const { size, good } = watched(1000);
  good(1, USUAL);
  assert.equal(size.now, 250);
  good(1, 2 * USUAL);
  assert.equal(size.now, 125);
});

test('pages of books are of ten records, not of fewer', () => {
  const { size, good } = watched(1000);
  good(5, HUGE);
  assert.equal(size.now, 10);
});

test('an empty page does not affect the estimated weight', () => {
  const { size } = watched(1000);
  size.praise(40, 0);
  assert.ok(size.now >= 50);
});

test('halves down to ten records, and says when it cannot be smaller', () => {
  const { size, sizes } = watched(1000);
  const went = Array.from({ length: 4 }, () => size.shrink('slow'));
  assert.deepEqual(sizes, [25, 12]);
  assert.deepEqual([size.now, went], [10, [true, true, true, false]]);
});

test('answers that are too large are halved down to two', () => {
  const { size } = watched(20);
  while (size.shrink('large'));
  assert.equal(size.now, 2);
});

test('after a failure the size doubles with every ten good pages', () => {
  const { size, good } = watched(1000);
  size.shrink('slow');
  size.shrink('slow');
  const seen = Array.from({ length: 6 }, () => {
    good(10, LIGHT);
    return size.now;
  });
  assert.deepEqual(seen, [24, 48, 96, 192, 384, 768]);
});

test('a failure restarts the count of good pages', () => {
  const { size, good } = watched(1000);
  size.shrink('slow');
  good(9, LIGHT);
  size.shrink('slow');
  good(9, LIGHT);
  assert.equal(size.now, 12);
  good(1, LIGHT);
  assert.equal(size.now, 24);
});

test('a page that is rejected is tried in halves, down to a size that is known to come', () => {
  const { size, good } = watched(1000);
  good(1, LIGHT);
  const tried = Array.from({ length: 6 }, () => (size.tryLess(false) ? size.now : undefined));
  assert.deepEqual(tried, [500, 250, 125, 62, 50, undefined]);
  size.restore();
  assert.equal(size.now, 1000, 'it was not the size');
  assert.equal(size.tryLess(false), true);
});

test('where as large a page came, the size is not the reason', () => {
  const { size, good } = watched(1000);
  good(2, LIGHT);
  assert.equal(size.tryLess(false), false);
  assert.equal(size.now, 1000);
});

test('the first page of a walk is tried smaller all the same, down to ten records', () => {
  const { size, good } = watched(1000);
  good(2, LIGHT);
  const tried = Array.from({ length: 8 }, () => (size.tryLess(true) ? size.now : undefined));
  assert.deepEqual(tried, [500, 250, 125, 62, 31, 15, 10, undefined]);
});

test('what came after a rejection is the most that is asked for from then on', () => {
  const { size, good } = watched(1000);
  good(1, LIGHT);
  while (size.now > 200) size.tryLess(false);
  good(100, LIGHT);
  assert.equal(size.now, 125);
});
