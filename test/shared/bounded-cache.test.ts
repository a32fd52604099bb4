/** Caches that are limited in bytes, and report their use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedCache, bytesOfText, cacheSizes, sumCacheSizes } from '../../src/shared/bounded-cache.ts';
import { objectId } from '../../src/shared/memoize.ts';

const useOf = (wanted: string) => cacheSizes().find(({ name }) => name === wanted);

test('beyond the limit in bytes the least recently used entry is dropped', () => {
  const cache = new BoundedCache<string>('by bytes', { bytes: 1000 });
  for (const key of ['a', 'b', 'c']) cache.put(key, key.toUpperCase(), 149); // 300 with key and place
  assert.deepEqual(useOf('by bytes'), { name: 'by bytes', entries: 3, bytes: 900 });
  assert.equal(cache.get('a'), 'A');
  cache.put('d', 'D', 149);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
    ['A', undefined, 'C', 'D'],
  );
  cache.put('huge', 'HUGE', 1000);
  assert.equal(cache.get('huge'), undefined);
  assert.equal(useOf('by bytes')?.entries, 3);
  cache.put('a', 'a', 9);
  assert.deepEqual([cache.get('a'), useOf('by bytes')?.bytes], ['a', 760]);
  cache.close();
  assert.equal(useOf('by bytes'), undefined);
});

test('the same value can change its size; only a value that leaves the cache is reported', () => {
  const dropped: string[] = [];
  const cache = new BoundedCache<string>('resized', { bytes: 1000 }, (value) => dropped.push(value));
  cache.put('a', 'A', 149);
  cache.put('a', 'A', 49);
  assert.deepEqual([useOf('resized'), dropped], [{ name: 'resized', entries: 1, bytes: 200 }, []]);
  cache.put('a', 'B', 49);
  cache.delete('a');
  assert.deepEqual([useOf('resized')?.bytes, dropped], [0, ['A', 'B']]);
  cache.close();
});

test('beyond the limit in entries the least recently used entry is dropped', () => {
  const cache = new BoundedCache<number>('by number', { bytes: 1_000_000, entries: 2 });
  for (const key of ['a', 'b', 'c']) cache.put(key, 1, 0);
  assert.deepEqual([cache.get('a'), useOf('by number')?.entries], [undefined, 2]);
  cache.close();
});

test('caches of one name are reported together; texts take two bytes per character if one character needs it', () => {
  assert.deepEqual(
    sumCacheSizes([
      { name: 'a', entries: 1, bytes: 10 },
      { name: 'b', entries: 1, bytes: 1 },
      { name: 'a', entries: 2, bytes: 5 },
    ]),
    [
      { name: 'a', entries: 3, bytes: 15 },
      { name: 'b', entries: 1, bytes: 1 },
    ],
  );
  assert.deepEqual([bytesOfText('häuser'), bytesOfText('häuser…')], [6, 14]);
  const object = {};
  assert.equal(objectId(object), objectId(object));
  assert.notEqual(objectId(object), objectId({}));
});
