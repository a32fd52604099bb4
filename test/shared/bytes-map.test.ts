/** Values by texts that are found among other bytes, also if texts have the same hash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BytesMap } from '../../src/shared/bytes-map.ts';

test('a value is found by the bytes of its text, wherever they are', () => {
  const map = new BytesMap<number>();
  const texts = ['', 'a', 'ab', 'ba', 'é😀', 'x'.repeat(300)];
  for (const [value, text] of texts.entries()) assert.equal(map.set(Buffer.from(text), value), true);
  assert.equal(map.size, texts.length);
  for (const [value, text] of texts.entries()) {
    const around = Buffer.from(`"é${text}ab"`);
    const start = Buffer.byteLength('"é');
    assert.equal(map.get(around, start, start + Buffer.byteLength(text)), value);
  }
  assert.equal(map.get(Buffer.from('abc'), 0, 3), undefined);
  assert.equal(map.set(Buffer.from('ab'), 9), false);
  assert.equal(map.get(Buffer.from('ab'), 0, 2), 9);
  map.delete(Buffer.from('ab'));
  assert.equal(map.get(Buffer.from('ab'), 0, 2), undefined);
  assert.deepEqual([map.get(Buffer.from('ba'), 0, 2), map.size], [3, texts.length - 1]);
  map.clear();
  assert.deepEqual([map.get(Buffer.from('ba'), 0, 2), map.size], [undefined, 0]);
});

test('texts with the same hash have values of their own, until one of them is deleted', () => {
  const [one, other] = sameHash();
  const map = new BytesMap<string>();
  assert.deepEqual([map.set(one, 'one'), map.set(other, 'other'), map.size], [true, true, 2]);
  assert.equal(map.get(one, 0, one.length), 'one');
  assert.equal(map.get(other, 0, other.length), 'other');
  assert.equal(map.set(one, 'again'), false);
  assert.equal(map.get(one, 0, one.length), 'again');
  map.delete(one);
  assert.deepEqual(
    [map.get(one, 0, one.length), map.get(other, 0, other.length), map.size],
    [undefined, undefined, 0],
  );
});

/** Two texts with the same FNV-1a hash in its 30 highest bits, found by trying numbers. */
function sameHash(): [Buffer, Buffer] {
  const seen = new Map<number, Buffer>();
  for (let number = 0; number < 1_000_000; number++) {
    const text = Buffer.from(String(number));
    let hash = 0x811c9dc5;
    for (const byte of text) hash = Math.imul(hash ^ byte, 0x01000193);
    const known = seen.get(hash >>> 2);
    if (known !== undefined) return [known, text];
    seen.set(hash >>> 2, text);
  }
  return assert.fail('no two texts have the same hash');
}
