/** Sleeps on the real clock, which are divided into waits that a timer supports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeSleep, sleepUntil, systemClock } from '../../src/shared/clock.ts';

const DAY = 86_400_000;
const LONGEST = 300_000;

function waits(milliseconds: number, stopAfter = Number.POSITIVE_INFINITY): Promise<number[]> {
  const waited: number[] = [];
  const stop = new AbortController();
  const sleep = makeSleep(async (wait) => {
    waited.push(wait);
    if (waited.length >= stopAfter) stop.abort();
  });
  return sleep(milliseconds, stop.signal).then(() => waited);
}

test('INCIDENT a wait of 30 days ended at once: a wait is divided into as many timers as necessary', async () => {
  assert.deepEqual(await waits(30 * DAY + 1), [...Array<number>((30 * DAY) / LONGEST).fill(LONGEST), 1]);
  assert.deepEqual(await waits(LONGEST), [LONGEST]);
  assert.deepEqual(await waits(LONGEST + 1), [LONGEST, 1]);
});

/** The waits until a moment, on a clock that jumps by these numbers of milliseconds during some of them. */
async function waitsUntil(moment: number, jumps: Readonly<Record<number, number>>): Promise<number[]> {
  let now = 0;
  const waited: number[] = [];
  const sleep = async (wait: number): Promise<void> => {
    waited.push(wait);
    now += wait + (jumps[waited.length] ?? 0);
  };
  await sleepUntil({ sleep }, () => moment - now);
  return waited;
}

test('a wait for a moment reads the clock every five minutes, so that setting the clock moves its end', async () => {
  assert.deepEqual(await waitsUntil(LONGEST + 2, {}), [LONGEST, 2]);
  assert.deepEqual(await waitsUntil(DAY, { 2: DAY }), [LONGEST, LONGEST]);
  assert.deepEqual(await waitsUntil(LONGEST, { 1: -LONGEST }), [LONGEST, LONGEST]);
  assert.deepEqual(await waitsUntil(0, {}), []);
});

test('a wait of no time, or of less, starts no timer', async () => {
  assert.deepEqual(await waits(0), []);
  assert.deepEqual(await waits(-5), []);
});

test('an endless wait ends with its signal', async () =>
  assert.deepEqual(await waits(Number.POSITIVE_INFINITY, 3), [LONGEST, LONGEST, LONGEST]));

test('an error of a timer, other than its abort, is thrown', async () => {
  const failing = makeSleep(() => Promise.reject(new Error('no timer')));
  await assert.rejects(failing(5), { message: 'no timer' });
});

test('the real clock sleeps for 30 days until its signal, without a warning of a timer', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const stop = new AbortController();
  let isAwake = false;
  const slept = systemClock.sleep(30 * DAY, stop.signal).then(() => {
    isAwake = true;
  });
  await systemClock.sleep(2); // a timer that is too long for its kind ends after one millisecond
  assert.deepEqual([isAwake, warnings], [false, []]);
  stop.abort();
  await slept;
});
