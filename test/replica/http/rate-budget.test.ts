/** The budget of a token: limits of requests and bytes, and the headers with which a source reports them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  budgetName,
  clampToClock,
  InMemoryUsage,
  NO_USAGE,
  parseUsage,
  sharedAllowance,
  type TokenUsage,
  usageAfterRequest,
  usageAfterResponse,
  waitUntilAllowed,
} from '../../../src/replica/http/rate-budget.ts';
import { blockedUntil, retryAfter, throttledUntil } from '../../../src/replica/http/rate-limit-headers.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const sent = (times: number, from: TokenUsage = NO_USAGE): TokenUsage =>
  Array.from({ length: times }).reduce<TokenUsage>((use) => usageAfterRequest(use, NOW), from);

test('without limits there is no wait', () =>
  assert.equal(waitUntilAllowed({}, sent(1_000_000 / 1000), NOW), 0));

test('requests a second: the next one waits for its share of it', () => {
  assert.equal(waitUntilAllowed({ requestsPerSecond: 2 }, sent(1), NOW), 500);
  assert.equal(waitUntilAllowed({ requestsPerSecond: 2 }, sent(1), NOW + 300), 200);
  assert.equal(waitUntilAllowed({ requestsPerSecond: 2 }, sent(1), NOW + 500), 0);
});

test('requests an hour: each counts for an hour, from the end of the minute it was sent in', () => {
  assert.equal(waitUntilAllowed({ requestsPerHour: 3 }, sent(2), NOW), 0);
  assert.equal(waitUntilAllowed({ requestsPerHour: 3 }, sent(3), NOW + 1000), HOUR + MINUTE - 1000);
  assert.equal(waitUntilAllowed({ requestsPerHour: 3 }, sent(3), NOW + HOUR + MINUTE - 1), 1);
  assert.equal(waitUntilAllowed({ requestsPerHour: 3 }, sent(3), NOW + HOUR + MINUTE), 0);
});

test('requests a day: each counts for a day, from the end of its 24 minutes', () => {
  assert.equal(waitUntilAllowed({ requestsPerDay: 3 }, sent(3), NOW + HOUR), 23 * HOUR + 24 * MINUTE);
  assert.equal(waitUntilAllowed({ requestsPerDay: 3 }, sent(3), NOW + DAY + 24 * MINUTE), 0);
});

test('the wait ends as soon as enough of the earlier use has expired', () => {
  const later = usageAfterRequest(usageAfterRequest(sent(1), NOW + 10 * MINUTE), NOW + 20 * MINUTE);
  assert.equal(waitUntilAllowed({ requestsPerHour: 3 }, later, NOW + 30 * MINUTE), 31 * MINUTE);
  assert.equal(waitUntilAllowed({ requestsPerHour: 2 }, later, NOW + 30 * MINUTE), 41 * MINUTE);
});

test('limits of bytes per hour and per day count received bytes', () => {
  const use = usageAfterResponse(sent(1), 4000, 0, NOW);
  assert.equal(waitUntilAllowed({ bytesPerHour: 4001 }, use, NOW), 0);
  assert.equal(waitUntilAllowed({ bytesPerHour: 4000 }, use, NOW), HOUR + MINUTE);
  assert.equal(waitUntilAllowed({ bytesPerDay: 4000 }, use, NOW), DAY + 24 * MINUTE);
});

/** Times at which a consumer with these intervals sends its requests, if it waits as it is told. */
function sending(intervals: readonly number[], requestsPerHour: number): number[] {
  let use = NO_USAGE;
  let now = NOW;
  return intervals.map((interval) => {
    now += interval;
    for (let wait = 1; wait > 0; now += wait) wait = waitUntilAllowed({ requestsPerHour }, use, now);
    use = parseUsage(JSON.parse(JSON.stringify(usageAfterRequest(use, now))));
    return now;
  });
}

test('INCIDENT 199 requests in one second of a limit of 100 an hour: no hour, wherever it begins, has more', () => {
  const intervals = fc.array(fc.oneof(fc.nat(1000), fc.nat(20 * MINUTE), fc.nat(3 * HOUR)), {
    minLength: 20,
    maxLength: 120,
  });
  fc.assert(
    fc.property(intervals, fc.integer({ min: 1, max: 12 }), (given, limit) => {
      const moments = sending(given, limit);
      for (const [at, moment] of moments.entries()) {
        const before = moments[at - limit] ?? Number.NEGATIVE_INFINITY;
        assert.ok(moment - before > HOUR, `${limit + 1} requests within ${moment - before} ms`);
      }
    }),
    { seed: 26, numRuns: 200 },
  );
});

test('a limit is used up: a consumer without pauses sends the full number in every hour and minute', () => {
  const moments = sending(Array(300).fill(0), 100);
  assert.equal(moments.at(-1), NOW + 2 * (HOUR + MINUTE));
});

test('the stored use stays small, however much was sent', () => {
  let use = NO_USAGE;
  for (let minute = 0; minute < 3000; minute++) {
    use = usageAfterResponse(
      usageAfterRequest(use, NOW + minute * MINUTE),
      1_000_000,
      0,
      NOW + minute * MINUTE,
    );
  }
  assert.deepEqual([use.hour.used.length, use.day.used.length], [61, 61]);
  assert.ok(JSON.stringify(use).length < 2000);
});

test('a clock that was set back by years delays by one window, not by years', () => {
  const use = { ...sent(5, NO_USAGE), blockedUntil: NOW + 5000 };
  const before = NOW - 3650 * DAY;
  assert.equal(waitUntilAllowed({ requestsPerHour: 5 }, use, before), HOUR + MINUTE);
  assert.equal(waitUntilAllowed({ requestsPerSecond: 1 }, use, before), 1000);
  assert.equal(
    waitUntilAllowed({}, use, before),
    0,
    'a block this far in the future comes from another clock',
  );
});

test('after a clock was set back, a wait of the reported length suffices', () => {
  const before = NOW - 3650 * DAY;
  const ahead = sent(5, NO_USAGE);
  for (const limits of [{ requestsPerHour: 5 }, { requestsPerDay: 5 }, { requestsPerSecond: 1 }]) {
    const wait = waitUntilAllowed(limits, ahead, before);
    assert.ok(wait > 0, JSON.stringify(limits));
    assert.equal(
      waitUntilAllowed(limits, clampToClock(ahead, before), before + wait),
      0,
      JSON.stringify(limits),
    );
  }
});

test('the longest of several waits counts', () => {
  const use = usageAfterResponse(sent(5), 10, NOW + 7000, NOW);
  assert.equal(waitUntilAllowed({ requestsPerSecond: 1 }, use, NOW), 7000);
  assert.equal(waitUntilAllowed({ requestsPerSecond: 1, requestsPerHour: 5 }, use, NOW), HOUR + MINUTE);
});

test('an earlier end of a block does not shorten a later one', () => {
  const use = usageAfterResponse(usageAfterResponse(NO_USAGE, 0, NOW + 9000, NOW), 0, NOW + 1000, NOW);
  assert.equal(use.blockedUntil, NOW + 9000);
});

const HEADERS: readonly [string, Record<string, string>, number][] = [
  ['nothing', {}, 0],
  ['some left', { 'ratelimit-remaining': '3', 'ratelimit-reset': '20' }, 0],
  ['the IETF header', { ratelimit: '"burst";r=0;t=20' }, NOW + 20_000],
  ['the IETF header with some left', { ratelimit: '"burst";r=7;t=20' }, 0],
  [
    'an older form of it',
    { ratelimit: 'limit=10, remaining=0, reset=9', 'ratelimit-reset': '9' },
    NOW + 9000,
  ],
  ['three headers', { 'ratelimit-remaining': '0', 'ratelimit-reset': '20' }, NOW + 20_000],
  ['headers with x-', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, NOW + 30_000],
  [
    'a moment in place of seconds',
    { 'application-ratelimit-remaining': '0', 'application-ratelimit-reset': '1800000100' },
    NOW + 100_000,
  ],
  [
    'two windows, of which the later end counts',
    {
      'application-ratelimit-remaining': '0',
      'application-ratelimit-reset': '1800000100',
      'burst-ratelimit-remaining': '0',
      'burst-ratelimit-reset': '1800000007',
    },
    NOW + 100_000,
  ],
  [
    'one window of two is full',
    {
      'application-ratelimit-remaining': '900',
      'application-ratelimit-reset': '1800000100',
      'burst-ratelimit-remaining': '0',
      'burst-ratelimit-reset': '1800000007',
    },
    NOW + 7000,
  ],
  [
    'INCIDENT a moment in milliseconds blocked until the year 58,000',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800000100000' },
    NOW + 100_000,
  ],
  [
    'a moment is on the clock of the source, which its Date gives',
    {
      date: new Date(NOW + 5 * HOUR).toUTCString(),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW / 1000 + 5 * 3600 + 60),
    },
    NOW + 60_000,
  ],
  [
    'a moment that has passed',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1799999000' },
    NOW - 1_000_000,
  ],
  ['an empty number', { 'ratelimit-remaining': '', 'ratelimit-reset': '20' }, 0],
  ['no moment', { 'ratelimit-remaining': '0' }, 0],
  ['a value that is not a number', { 'ratelimit-remaining': 'none', 'ratelimit-reset': '20' }, 0],
];
for (const [name, headers, expected] of HEADERS) {
  test(`headers: ${name}`, () => assert.equal(blockedUntil(headers, NOW), expected));
}

const RETRY_AFTER: readonly [string, Record<string, string>, number | undefined][] = [
  ['none', {}, undefined],
  ['seconds', { 'retry-after': '120' }, 120_000],
  [
    'a date, where the source sends no time of its own',
    { 'retry-after': new Date(NOW + 300_000).toUTCString() },
    300_000,
  ],
  [
    'a date on the clock of the source, which is an hour ahead',
    {
      'retry-after': new Date(NOW + HOUR + 300_000).toUTCString(),
      date: new Date(NOW + HOUR).toUTCString(),
    },
    300_000,
  ],
  ['a date that has passed', { 'retry-after': new Date(NOW - 5000).toUTCString() }, 0],
  ['what is neither', { 'retry-after': 'soon' }, 0],
];
for (const [name, headers, expected] of RETRY_AFTER) {
  test(`Retry-After: ${name}`, () => {
    assert.equal(retryAfter(headers, NOW), expected);
    assert.equal(throttledUntil(429, headers, NOW), expected === undefined ? 0 : NOW + expected);
    assert.equal(throttledUntil(503, headers, NOW), 0);
  });
}

test('stored use is read back; anything else counts as nothing used', () => {
  const use = usageAfterResponse(sent(3), 12, NOW + 5, NOW);
  assert.deepEqual(parseUsage(JSON.parse(JSON.stringify(use))), use);
  for (const broken of [undefined, null, 'x', 7]) assert.deepEqual(parseUsage(broken), NO_USAGE);
});

test('INCIDENT rate windows forgotten at restart: a second process with the token continues to count', async (t) => {
  const { store, again } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const limits = { requestsPerHour: 3 };
  const first = sharedAllowance(store.checkpoints, 'secret', limits);
  assert.deepEqual([await first.take(NOW), await first.take(NOW)], [0, 0]);
  const second = sharedAllowance((await again()).checkpoints, 'secret', limits);
  assert.equal(await second.take(NOW + 1000), 0);
  assert.equal(await second.take(NOW + 2000), HOUR + MINUTE - 2000);
  assert.equal(await first.take(NOW + 2000), HOUR + MINUTE - 2000, 'both share one budget');
  assert.equal(await second.take(NOW + HOUR + MINUTE), 0);
});

test('a block that one process was given also holds for another process', async (t) => {
  const { store, again } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const first = sharedAllowance(store.checkpoints, 'secret', {});
  await first.recordResponse(10, NOW + 60_000, NOW);
  const second = sharedAllowance((await again()).checkpoints, 'secret', {});
  assert.equal(await second.take(NOW), 60_000);
});

test('what a token used before there was a store is counted in the store', async (t) => {
  const kept = new InMemoryUsage();
  const limits = { requestsPerHour: 3 };
  const first = sharedAllowance(kept, 'secret', limits);
  assert.deepEqual(await Promise.all([first.take(NOW), first.take(NOW)]), [0, 0]);
  const { store } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  await kept.moveTo(store.checkpoints);
  const second = sharedAllowance(store.checkpoints, 'secret', limits);
  assert.deepEqual([await second.take(NOW), await second.take(NOW)], [0, HOUR + MINUTE]);
});

test('each token has its own budget, and no token is stored', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const limits = { requestsPerHour: 1 };
  await sharedAllowance(store.checkpoints, 'secret', limits).take(NOW);
  assert.equal(await sharedAllowance(store.checkpoints, 'other', limits).take(NOW), 0);
  assert.deepEqual(
    [...(await store.checkpoints.sources())].toSorted(),
    [budgetName('secret'), budgetName('other')].toSorted(),
  );
  assert.doesNotMatch(budgetName('secret'), /secret/);
});
