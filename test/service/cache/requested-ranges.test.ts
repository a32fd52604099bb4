/** Ranges of keys that were requested cover what a list of all requests covers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestedRanges } from '../../../src/service/cache/requested-ranges.ts';
import { makeRandom } from '../../oracle/random.ts';

const key = (number: number): string => (number === 0 ? '' : String.fromCodePoint(0xfff0 + number));

test('a key is covered once a page has begun at it or before it, and gone beyond it', () => {
  const random = makeRandom(11);
  for (let round = 0; round < 200; round++) {
    const ranges = new RequestedRanges();
    const added: { from: number; to: number }[] = [];
    for (let step = 0; step < 12; step++) {
      const from = random.between(0, 40);
      // Keys have no end, and some pages reach it.
      const to = random.chance(0.05) ? 100 : random.between(from, 45);
      added.push({ from, to });
      ranges.add(key(from), to === 100 ? undefined : key(to));
      for (let at = 0; at <= 50; at++) {
        const expected = added.some((range) => range.from <= at && at < range.to);
        assert.equal(ranges.covers(key(at)), expected, `${at} in ${JSON.stringify(added)}`);
      }
    }
  }
});

test('a walk does not cover its next page, however long it is', () => {
  const ranges = new RequestedRanges();
  for (let page = 0; page < 1000; page++) {
    assert.equal(ranges.covers(`K${1000 + page}`), false);
    ranges.add(`K${1000 + page}`, `K${1001 + page}`);
  }
  assert.equal(ranges.covers('K1000'), true);
  assert.equal(ranges.covers('K1500+'), true);
});

test('of more ranges than are remembered, only the last one stays', () => {
  const ranges = new RequestedRanges();
  for (let page = 0; page <= 100; page++) ranges.add(`K${1000 + 2 * page}`, `K${1001 + 2 * page}`);
  assert.equal(ranges.covers('K1000'), false);
  assert.equal(ranges.covers('K1200'), true);
});
