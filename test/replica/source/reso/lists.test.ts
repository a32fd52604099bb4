/** Lists of sub-data, which are collected in memory to their end: pages that repeat are left out, and their size is limited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShortList } from '../../../../src/replica/source/reso/lists.ts';

const rejected = (message: string) => ({ name: 'RequestFailure', kind: 'rejected', message });
const numbers = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => from + at);

test('pages are joined in their order', () => {
  const list = new ShortList('Media');
  assert.deepEqual([list.add([1, 2]), list.add([]), list.add([]), list.add([3])], [true, true, true, true]);
  assert.deepEqual(list.values, [1, 2, 3]);
});

test('a repeated page, even if not directly before, is left out and reported', () => {
  const list = new ShortList('Media');
  assert.deepEqual([list.add([1]), list.add([2]), list.add([1])], [true, true, false]);
  assert.deepEqual(list.values, [1, 2]);
  assert.throws(
    () => list.failRepeated(),
    rejected('Media gave the same page twice: the list would not end'),
  );
});

test('INCIDENT 83,450 pages of sub-data were kept in memory: a list has at most ten thousand records', () => {
  const list = new ShortList('Media');
  for (let page = 0; page < 100; page++) list.add(numbers(page * 100, 100));
  assert.throws(() => list.add([0]), rejected('Media gave more than 10000 records: the list would not end'));
});

test('a list has at most 250 pages, even if they are empty', () => {
  const list = new ShortList('Media');
  for (let page = 0; page < 250; page++) list.add([]);
  assert.throws(() => list.add([]), rejected('Media gave more than 250 pages: the list would not end'));
});
