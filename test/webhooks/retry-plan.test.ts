import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAttemptTime } from '../../src/webhooks/retry-plan.ts';

const HOUR = 3_600_000;

/** The times of all attempts, if each fails at once. */
function attempts(random: number, retryAfter?: number): number[] {
  const moments = [0];
  for (let now = 0; ; ) {
    const next = nextAttemptTime({ attempts: moments.length, failingSince: 0, now, retryAfter, random });
    if (next === undefined) return moments;
    moments.push(next);
    now = next;
  }
}

test('attempts continue for 72 hours, at growing intervals', () => {
  const seconds = attempts(0).map((moment) => moment / 1000);
  assert.deepEqual(seconds, [0, 5, 35, 335, 2135, 9335, 27_335, 63_335, 113_735, 185_735, 257_735, 259_200]);
  assert.equal(attempts(1).at(-1), 72 * HOUR);
  assert.ok(
    attempts(0.123_456_7).every(Number.isInteger),
    'the columns of both engines store whole milliseconds',
  );
  assert.ok(attempts(1).every((moment, index) => moment >= (attempts(0)[index] ?? 0)));
});

test('a receiver may request a later attempt, within a day and within the 72 hours', () => {
  const wait = (retryAfter: number) =>
    nextAttemptTime({ attempts: 1, failingSince: 0, now: 1000, retryAfter, random: 0 });
  assert.equal(wait(2000), 6000);
  assert.equal(wait(60_000), 61_000);
  assert.equal(wait(100 * HOUR), 1000 + 24 * HOUR);
  assert.equal(attempts(0, 30 * HOUR).at(-1), 72 * HOUR);
});
