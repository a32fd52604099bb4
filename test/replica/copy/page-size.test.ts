/** The number of records that one page requests: it depends on their weight, is halved after failures, and grows back slowly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageSize } from '../../../src/replica/copy/page-size.ts';

/** Characters of a light record, of one of 4 kB, and of one that is as large as a book. */
const LIGHT = 100;
const USUAL = 4000;
const HUGE = 1_000_000;

interface Watched {
  readonly size: PageSize;
  readonly sizes: number[];
  /** That many pages of the current size succeed, with records of this weight. */
  good(pages: number, weight: number): void;
}

function watched(allowed: number): Watched {
  const sizes: number[] = [];
  const size = new PageSize(allowed, (event) => void (event.kind === 'page-size' && sizes.push(event.size)));
  const good = (pages: number, weight: number): void => {
    for (let page = 0; page < pages; page++) size.recordSuccess(size.current * weight, size.current);
  };
  return { size, sizes, good };
}

test('the first page is small, since the weight of its records is unknown; light records then allow the maximum', () => {
  const { size, sizes, good } = watched(1000);
  assert.equal(size.current, 50);
  good(1, LIGHT);
  assert.deepEqual([size.current, sizes], [1000, []], 'the size after the first page is not reported');
});

test('the allowed maximum is never exceeded, even if it is below the size of the first page', () => {
  const { size, good } = watched(20);
  assert.equal(size.current, 20);
  good(100, LIGHT);
  assert.equal(size.current, 20);
});

test('a page is sized to two million characters', () => {
  const { size, good } = watched(1000);
  good(1, USUAL);
  assert.equal(size.current, 500);
  good(1, 2 * USUAL);
  assert.equal(size.current, 250);
});

test('a page has at least ten records, however large they are', () => {
  const { size, good } = watched(1000);
  good(5, HUGE);
  assert.equal(size.current, 10);
});

test('an empty page does not affect the estimated weight', () => {
  const { size } = watched(1000);
  size.recordSuccess(40, 0);
  assert.ok(size.current >= 50);
});

test('failures halve the size down to ten records; shrink() then returns false', () => {
  const { size, sizes } = watched(1000);
  const went = Array.from({ length: 4 }, () => size.shrink('slow'));
  assert.deepEqual(sizes, [25, 12]);
  assert.deepEqual([size.current, went], [10, [true, true, true, false]]);
});

test('responses that are too large halve the size down to two records', () => {
  const { size } = watched(20);
  while (size.shrink('large'));
  assert.equal(size.current, 2);
});

test('after a failure the size doubles with every ten good pages', () => {
  const { size, good } = watched(1000);
  size.shrink('slow');
  size.shrink('slow');
  const seen = Array.from({ length: 6 }, () => {
    good(10, LIGHT);
    return size.current;
  });
  assert.deepEqual(seen, [24, 48, 96, 192, 384, 768]);
});

test('a failure restarts the count of good pages', () => {
  const { size, good } = watched(1000);
  size.shrink('slow');
  good(9, LIGHT);
  size.shrink('slow');
  good(9, LIGHT);
  assert.equal(size.current, 12);
  good(1, LIGHT);
  assert.equal(size.current, 24);
});

test('a rejected page is tried in halves, down to the size of a page that succeeded; then the size is restored', () => {
  const { size, good } = watched(1000);
  good(1, LIGHT);
  const tried = Array.from({ length: 6 }, () =>
    size.shrinkAfterRejection(false) ? size.current : undefined,
  );
  assert.deepEqual(tried, [500, 250, 125, 62, 50, undefined]);
  size.restore();
  assert.equal(size.current, 1000, 'the size was not the reason');
  assert.equal(size.shrinkAfterRejection(false), true);
});

test('after a page of this size succeeded, a rejection is not attributed to the size', () => {
  const { size, good } = watched(1000);
  good(2, LIGHT);
  assert.equal(size.shrinkAfterRejection(false), false);
  assert.equal(size.current, 1000);
});

test('the first page of a walk is tried in halves all the same, down to ten records', () => {
  const { size, good } = watched(1000);
  good(2, LIGHT);
  const tried = Array.from({ length: 8 }, () => (size.shrinkAfterRejection(true) ? size.current : undefined));
  assert.deepEqual(tried, [500, 250, 125, 62, 31, 15, 10, undefined]);
});

test('the size that succeeds after a rejection is the maximum from then on', () => {
  const { size, good } = watched(1000);
  good(1, LIGHT);
  while (size.current > 200) size.shrinkAfterRejection(false);
  good(100, LIGHT);
  assert.equal(size.current, 125);
});
