/** Waits between attempts: full jitter above the minimum that the source requires. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_BACKOFF, waitAfter } from '../../../src/replica/http/retry.ts';

const all = () => 1;

test('the longest wait doubles with each failure up to a ceiling', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) =>
    waitAfter(failures, undefined, DEFAULT_BACKOFF, all),
  );
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('full jitter: any part of the wait down to nothing', () => {
  assert.equal(
    waitAfter(3, undefined, DEFAULT_BACKOFF, () => 0),
    0,
  );
  assert.equal(
    waitAfter(3, undefined, DEFAULT_BACKOFF, () => 0.25),
    1000,
  );
});

test('Retry-After is a minimum, never a maximum', () => {
  assert.equal(
    waitAfter(1, 120_000, DEFAULT_BACKOFF, () => 0),
    120_000,
  );
  assert.equal(waitAfter(1, 120_000, DEFAULT_BACKOFF, all), 121_000);
});
