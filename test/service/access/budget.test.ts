/** The budget of a key: running requests, unread bytes, search time. Also the minimum pace at which a client must read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatError } from '../../../src/errors/index.ts';
import { type BudgetLimits, Budgets, type Refusal } from '../../../src/service/access/budget.ts';
import { Pace } from '../../../src/service/reply/read-pace.ts';

const MEGABYTE = 1024 * 1024;
const LIMITS: BudgetLimits = {
  requests: 3,
  megabytes: 10,
  totalMegabytes: 20,
  searchSeconds: 60,
  windowSeconds: 300,
};

function budgetsOf(limits: Partial<BudgetLimits> = {}) {
  let now = 0;
  const refusals: Refusal[] = [];
  const budgets = new Budgets(
    { ...LIMITS, ...limits },
    { now: () => now, refused: (why) => void refusals.push(why) },
  );
  const ask = (key: string) => {
    const account = budgets.open('127.0.0.1');
    account.chargeTo(key);
    return account;
  };
  const advance = (milliseconds: number): void => {
    now += milliseconds;
  };
  return { budgets, ask, refusals, advance };
}

const refusal = (code: string, retryAfter: number, message: string) => (error: unknown) => {
  assert.ok(error instanceof PlatError);
  assert.deepEqual([error.code, error.retryAfter, error.message], [code, retryAfter, message]);
  return true;
};

test('a key may have only so many requests running; a closed request frees its slot, closed once or twice', () => {
  const { budgets, ask, refusals } = budgetsOf();
  const [first] = [ask('a'), ask('a'), ask('a')];
  const fourth = budgets.open('127.0.0.1');
  assert.throws(
    () => fourth.chargeTo('a'),
    refusal('tooManyUnderWay', 1, 'More than 3 requests of this key are running at once. Try again in 1 s.'),
  );
  assert.equal(budgets.requests, 4);
  fourth.close();
  ask('b').close();
  first?.close();
  first?.close(); // a second close must not free a second slot
  ask('a');
  assert.deepEqual([budgets.requests, refusals], [3, ['requests']]);
});

test('a key with too many unread response bytes is refused until it reads them; other keys are not', () => {
  const { budgets, ask } = budgetsOf();
  const greedy = ask('greedy');
  greedy.made(10 * MEGABYTE);
  greedy.begin('pages');
  greedy.made(1);
  const message = 'More than 10 MB of responses are waiting for this key to read them. Try again in 5 s.';
  assert.throws(() => greedy.begin('pages'), refusal('answersNotTaken', 5, message));
  assert.throws(() => ask('greedy'), refusal('answersNotTaken', 5, message));
  ask('other').begin('pages');
  greedy.setHeldBytes(5 * MEGABYTE);
  ask('greedy').begin('searches');
  assert.equal(budgets.bytes, 5 * MEGABYTE);
  greedy.close();
  greedy.setHeldBytes(9 * MEGABYTE); // no effect on a closed account
  assert.equal(budgets.bytes, 0);
});

test('when the total of unread bytes is exceeded, only keys above an equal share are refused', () => {
  const { ask, refusals } = budgetsOf();
  const accounts = ['a', 'b', 'c'].map((key) => ask(key));
  for (const [index, megabytes] of [10, 9, 2].entries()) accounts[index]?.made(megabytes * MEGABYTE);
  const overloaded = refusal('overloaded', 5, 'The service is at its limit. Try again in 5 s.');
  for (const key of ['a', 'b']) assert.throws(() => ask(key), overloaded);
  accounts[2]?.begin('pages');
  ask('d').begin('pages');
  assert.deepEqual(refusals, ['share', 'share']);
});

test('a key that has used its search time in a window is refused further searches, but not pages and records', () => {
  const { ask, advance } = budgetsOf();
  const account = ask('a');
  account.begin('searches');
  account.spent('searches', 59_999);
  account.spent('pages', 100_000);
  account.begin('searches');
  account.spent('searches', 1);
  advance(100_500);
  const message =
    'The searches of this key took more than 60 s in 300 s. The next search can run in 200 s; records and pages by key are served meanwhile.';
  assert.throws(() => account.begin('searches'), refusal('searchedTooLong', 200, message));
  account.begin('pages');
  ask('b').begin('searches');
  account.close();
  assert.throws(
    () => ask('a').begin('searches'),
    refusal('searchedTooLong', 200, message),
    'a new request of the same key is refused, too',
  );
  advance(199_500);
  ask('a').begin('searches');
});

test('an exempt (admin) key exceeds every budget without being refused', () => {
  const { budgets } = budgetsOf();
  for (let index = 0; index < 10; index++) {
    const account = budgets.open('127.0.0.1');
    account.exempt();
    account.chargeTo('admin');
    account.made(50 * MEGABYTE);
    account.begin('searches');
  }
});

test('a budget is removed at the end of its window, and at once if it holds no search time', () => {
  const { budgets, ask, advance } = budgetsOf();
  for (let index = 0; index < 1000; index++) {
    const account = ask(`key ${index}`);
    account.begin('searches');
    account.close();
  }
  assert.equal(budgets.use.entries, 1000, 'the search time of a current window is remembered');
  for (let index = 0; index < 100; index++) ask(`other ${index}`).close();
  assert.equal(budgets.use.entries, 1000, 'a key without searches leaves no entry');
  advance(300_000);
  ask('next').close();
  assert.equal(budgets.use.entries, 0);
});

function paceOf() {
  let now = 0;
  const pace = new Pace({ bytesPerSecond: 1000, seconds: 10 }, () => now);
  pace.close(); // stops the timer; the test calls look() itself
  const cut: string[] = [];
  return {
    watch: (name: string) => pace.watch(() => void cut.push(name)),
    after: (seconds: number): readonly string[] => {
      now += seconds * 1000;
      pace.checkClients();
      return cut.splice(0);
    },
  };
}

test('a client that reads less than the minimum in a window is disconnected; one that reads the minimum is not', () => {
  const { watch, after } = paceOf();
  const [none, little, enough] = [watch('none'), watch('little'), watch('enough')];
  for (const sender of [none, little, enough]) sender.reportWaiting();
  little.reportRead(9999, true);
  enough.reportRead(10_000, true);
  assert.deepEqual(after(9.9), []);
  assert.deepEqual(after(0.1), ['none', 'little']);
  assert.deepEqual(after(10), ['enough'], 'each window is evaluated separately');
});

test('time in which no data waits for the client does not count against it', () => {
  const { watch, after } = paceOf();
  const sender = watch('a');
  assert.deepEqual(after(100), [], 'the time that the store takes is not the client’s');
  sender.reportWaiting();
  sender.reportRead(1, false);
  assert.deepEqual(after(100), []);
  sender.reportWaiting();
  assert.deepEqual(after(5), []);
  sender.reportWaiting();
  assert.deepEqual(after(5), ['a'], 'further data does not restart the window');
  const ended = watch('b');
  ended.reportWaiting();
  ended.end();
  assert.deepEqual(after(100), []);
});

test('work that begins after the client has disconnected is refused in every lane', () => {
  let isDisconnected = false;
  const { budgets } = budgetsOf();
  const account = budgets.open('127.0.0.1', () => isDisconnected);
  account.chargeTo('a');
  account.begin('searches');
  isDisconnected = true;
  for (const lane of ['records', 'pages', 'searches'] as const) {
    assert.throws(() => account.begin(lane), { code: 'clientGone', status: 408 });
  }
  account.close();
  assert.equal(budgets.requests, 0);
});
