/** Texts by keys that are found among other bytes, also if keys have the same hash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteStringMap, NO_TEXT } from '../../src/shared/byte-string-map.ts';

/** The text of a key; undefined if there is none. */
function textOf(texts: ByteStringMap, key: string): string | undefined {
  const bytes = Buffer.from(key);
  const place = texts.find(bytes, 0, bytes.length);
  return place === NO_TEXT ? undefined : texts.textAt(place).toString();
}

const put = (texts: ByteStringMap, key: string, text: string): number =>
  texts.put(Buffer.from(key), Buffer.from(text));

test('a text is found by the bytes of its key, wherever they are', () => {
  const texts = new ByteStringMap();
  const keys = ['', 'a', 'ab', 'ba', 'é😀', 'x'.repeat(300)];
  for (const key of keys) put(texts, key, `of ${key}`);
  assert.equal(texts.size, keys.length);
  for (const key of keys) {
    const around = Buffer.from(`"é${key}ab"`);
    const start = Buffer.byteLength('"é');
    const place = texts.find(around, start, start + Buffer.byteLength(key));
    assert.equal(texts.textAt(place).toString(), `of ${key}`);
    const copied = Buffer.alloc(400);
    const length = texts.copy(place, copied, 7);
    assert.equal(copied.toString('utf8', 7, 7 + length), `of ${key}`);
    assert.equal(texts.lengthOf(place), length);
  }
  assert.equal(textOf(texts, 'abc'), undefined);
});

test('a text is replaced and deleted, while its place stays readable', () => {
  const texts = new ByteStringMap();
  const first = put(texts, 'ab', 'first');
  put(texts, 'ba', '');
  put(texts, 'ab', 'second');
  assert.deepEqual([textOf(texts, 'ab'), textOf(texts, 'ba'), texts.size], ['second', '', 2]);
  texts.delete(Buffer.from('ab'));
  texts.delete(Buffer.from('ab'));
  assert.deepEqual([textOf(texts, 'ab'), textOf(texts, 'ba'), texts.size], [undefined, '', 1]);
  assert.equal(texts.textAt(first).toString(), 'first');
  put(texts, 'ab', 'third');
  assert.deepEqual([textOf(texts, 'ab'), texts.size], ['third', 2]);
});

test('many texts that come and go are found, and their slots are used again', () => {
  const texts = new ByteStringMap();
  const kept = new Map<string, string>();
  for (let round = 0; round < 5; round++) {
    for (let number = 0; number < 1000; number++) {
      const key = `K${number}`;
      if ((number + round) % 3 === 0) {
        texts.delete(Buffer.from(key));
        kept.delete(key);
      } else {
        const text = `${key} in ${round}`;
        put(texts, key, text);
        kept.set(key, text);
      }
    }
    assert.equal(texts.size, kept.size);
    for (let number = 0; number < 1000; number++)
      assert.equal(textOf(texts, `K${number}`), kept.get(`K${number}`));
  }
  const { bytes } = texts;
  for (let round = 0; round < 10_000; round++) {
    put(texts, 'comes', '');
    texts.delete(Buffer.from('comes'));
  }
  assert.ok(texts.bytes < bytes + 256 * 1024, `${texts.bytes} bytes, ${bytes} before`);
});

test('keys with the same hash have texts of their own', () => {
  const [one, other] = sameHash();
  const texts = new ByteStringMap();
  put(texts, one, 'one');
  assert.equal(textOf(texts, other), undefined);
  put(texts, other, 'other');
  assert.deepEqual([textOf(texts, one), textOf(texts, other), texts.size], ['one', 'other', 2]);
  texts.delete(Buffer.from(one));
  assert.deepEqual([textOf(texts, one), textOf(texts, other), texts.size], [undefined, 'other', 1]);
});

/** Two texts of the same length with the same FNV-1a hash, found by trying numbers. */
function sameHash(): [string, string] {
  const seen = new Map<number, string>();
  for (let number = 1_000_000; number < 2_000_000; number++) {
    const text = String(number);
    let hash = 0x811c9dc5;
    for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
    const known = seen.get(hash);
    if (known !== undefined) return [known, text];
    seen.set(hash, text);
  }
  return assert.fail('no two texts have the same hash');
}
