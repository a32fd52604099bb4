/** A set of seen texts that needs little memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenTexts } from '../../../src/replica/source/loop-guard.ts';

test('each of a hundred thousand texts is new the first time only', () => {
  const digests = new SeenTexts();
  const texts = Array.from({ length: 100_000 }, (_, at) => `page ${at}`);
  assert.equal(texts.filter((text) => digests.add(text)).length, texts.length);
  assert.equal(texts.filter((text) => digests.add(text)).length, 0);
  assert.equal(digests.add(''), true);
  assert.equal(digests.add(''), false);
});
