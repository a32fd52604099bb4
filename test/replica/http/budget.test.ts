/** What a token may use: windows of requests and bytes, and what a source's headers tell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetName, sharedAllowance } from '../../../src/replica/http/allowance.ts';
import {
  type BudgetUse,
  blockedUntil,
  NOTHING_USED,
  readUse,
  receive,
  spend,
  waitFor,
} from '../../../src/replica/http/budget.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

const sent = (times: number, from: BudgetUse = NOTHING_USED): BudgetUse =>
  Array.from({ length: times }).reduce<BudgetUse>((use) => spend(use, NOW), from);

test('without limits nobody waits', () => assert.equal(waitFor({}, sent(1_000_000 / 1000), NOW), 0));

test('requests a second: the next one waits for its share of it', () => {
  assert.equal(waitFor({ requestsPerSecond: 2 }, sent(1), NOW), 500);
  assert.equal(waitFor({ requestsPerSecond: 2 }, sent(1), NOW + 300), 200);
  assert.equal(waitFor({ requestsPerSecond: 2 }, sent(1), NOW + 500), 0);
});

test('requests an hour: the window that is full ends an hour after it began', () => {
  assert.equal(waitFor({ requestsPerHour: 3 }, sent(2), NOW), 0);
  assert.equal(waitFor({ requestsPerHour: 3 }, sent(3), NOW + 1000), HOUR - 1000);
  assert.equal(waitFor({ requestsPerHour: 3 }, sent(3), NOW + HOUR), 0);
});

test('requests a day', () => {
  assert.equal(waitFor({ requestsPerDay: 3 }, sent(3), NOW + HOUR), 23 * HOUR);
});

test('bytes an hour and a day count what came', () => {
  const use = receive(sent(1), 4000, 0, NOW);
  assert.equal(waitFor({ bytesPerHour: 4001 }, use, NOW), 0);
  assert.equal(waitFor({ bytesPerHour: 4000 }, use, NOW), HOUR);
  assert.equal(waitFor({ bytesPerDay: 4000 }, use, NOW), 24 * HOUR);
});

test('the longest of several waits counts', () => {
  const use = receive(sent(5), 10, NOW + 7000, NOW);
  assert.equal(waitFor({ requestsPerSecond: 1 }, use, NOW), 7000);
  assert.equal(waitFor({ requestsPerSecond: 1, requestsPerHour: 5 }, use, NOW), HOUR);
});

test('a source that blocked longer is not unblocked by an earlier moment', () => {
  const use = receive(receive(NOTHING_USED, 0, NOW + 9000, NOW), 0, NOW + 1000, NOW);
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
  ['no moment', { 'ratelimit-remaining': '0' }, 0],
  ['what is no number', { 'ratelimit-remaining': 'none', 'ratelimit-reset': '20' }, 0],
];
for (const [name, headers, expected] of HEADERS) {
  test(`headers: ${name}`, () => assert.equal(blockedUntil(headers, NOW), expected));
}

test('what was kept is read back, and what is no use is nothing used', () => {
  const use = receive(sent(3), 12, NOW + 5, NOW);
  assert.deepEqual(readUse(JSON.parse(JSON.stringify(use))), use);
  for (const broken of [undefined, null, 'x', 7]) assert.deepEqual(readUse(broken), NOTHING_USED);
});

test('INCIDENT rate windows forgotten at restart: a second process with the token goes on counting', async (t) => {
  const { store, again } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const limits = { requestsPerHour: 3 };
  const first = sharedAllowance(store.ledger, 'secret', limits);
  assert.deepEqual([await first.take(NOW), await first.take(NOW)], [0, 0]);
  const second = sharedAllowance((await again()).ledger, 'secret', limits);
  assert.equal(await second.take(NOW + 1000), 0);
  assert.equal(await second.take(NOW + 2000), HOUR - 2000);
  assert.equal(await first.take(NOW + 2000), HOUR - 2000, 'both share one budget');
  assert.equal(await second.take(NOW + HOUR), 0);
});

test('what one process was told to wait, the other waits, too', async (t) => {
  const { store, again } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const first = sharedAllowance(store.ledger, 'secret', {});
  await first.note(10, NOW + 60_000, NOW);
  const second = sharedAllowance((await again()).ledger, 'secret', {});
  assert.equal(await second.take(NOW), 60_000);
});

test('another token has a budget of its own, and no token is kept', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const limits = { requestsPerHour: 1 };
  await sharedAllowance(store.ledger, 'secret', limits).take(NOW);
  assert.equal(await sharedAllowance(store.ledger, 'other', limits).take(NOW), 0);
  assert.deepEqual(
    [...(await store.ledger.sources())].toSorted(),
    [budgetName('secret'), budgetName('other')].toSorted(),
  );
  assert.doesNotMatch(budgetName('secret'), /secret/);
});
