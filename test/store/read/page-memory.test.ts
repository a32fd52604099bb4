/** Memory of pages is reused, whatever sizes pages had before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageMemory, SMALLEST } from '../../../src/store/read/page-memory.ts';

function countedMemory(): { readonly memory: PageMemory<ArrayBuffer>; readonly made: number[] } {
  const made: number[] = [];
  const memory = new PageMemory((length) => {
    made.push(length);
    return new ArrayBuffer(length);
  });
  return { memory, made };
}

test('a small page after many large ones reuses its memory', () => {
  const { memory, made } = countedMemory();
  const large = Array.from({ length: 6 }, () => memory.take(40 * SMALLEST));
  for (const each of large) memory.release(each);
  assert.equal(memory.use.entries, 3);
  for (let page = 0; page < 10; page++) memory.release(memory.take(2 * SMALLEST));
  assert.deepEqual(made.slice(6), [2.5 * SMALLEST]);
  memory.take(40 * SMALLEST);
  assert.equal(made.length, 7);
});

test('a page does not take memory of more than four times its size', () => {
  const { memory, made } = countedMemory();
  memory.release(memory.take(8 * SMALLEST));
  memory.take(2 * SMALLEST);
  memory.take(4 * SMALLEST);
  assert.deepEqual(made, [10 * SMALLEST, 2.5 * SMALLEST]);
});
