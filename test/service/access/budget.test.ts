/** What a key may use beside its number of requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatError } from '../../../src/errors/index.ts';
import { type BudgetLimits, Budgets, type Refusal } from '../../../src/service/access/budget.ts';
import { Pace } from '../../../src/service/reply/pace.ts';

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
    account.belongsTo(key);
    return account;
  };
  const advance = (milliseconds: number): void => {
    now += milliseconds;
  };
  return { budgets, ask, refusals, advance };
}

const told = (code: string, retryAfter: number, message: string) => (error: unknown) => {
  assert.ok(error instanceof PlatError);
  assert.deepEqual([error.code, error.retryAfter, error.message], [code, retryAfter, message]);
  return true;
};

test('requests under way are counted, whatever became of them', () => {
  const { budgets, ask, refusals } = budgetsOf();
  const [first] = [ask('a'), ask('a'), ask('a')];
  const fourth = budgets.open('127.0.0.1');
  assert.throws(
    () => fourth.belongsTo('a'),
    told('tooManyUnderWay', 1, 'More than 3 requests of this key are running at once. Try again in 1 s.'),
  );
  assert.equal(budgets.requests, 4);
  fourth.close();
  ask('b').close();
  first?.close();
  first?.close(); // once is enough
  ask('a');
  assert.deepEqual([budgets.requests, refusals], [3, ['requests']]);
});

test('a key that does not read its responses is told to read them, and no other key is', () => {
  const { budgets, ask } = budgetsOf();
  const greedy = ask('greedy');
  greedy.made(10 * MEGABYTE);
  greedy.begin('pages');
  greedy.made(1);
  const message = 'More than 10 MB of responses are waiting for this key to read them. Try again in 5 s.';
  assert.throws(() => greedy.begin('pages'), told('answersNotTaken', 5, message));
  assert.throws(() => ask('greedy'), told('answersNotTaken', 5, message));
  ask('other').begin('pages');
  greedy.holds(5 * MEGABYTE);
  ask('greedy').begin('searches');
  assert.equal(budgets.bytes, 5 * MEGABYTE);
  greedy.close();
  greedy.holds(9 * MEGABYTE); // it is over
  assert.equal(budgets.bytes, 0);
});

test('beyond the bound of all, those are refused that hold more than an equal part of it', () => {
  const { ask, refusals } = budgetsOf();
  const accounts = ['a', 'b', 'c'].map((key) => ask(key));
  for (const [index, megabytes] of [10, 9, 2].entries()) accounts[index]?.made(megabytes * MEGABYTE);
  const share = told('overloaded', 5, 'The service is at its limit. Try again in 5 s.');
  for (const key of ['a', 'b']) assert.throws(() => ask(key), share);
  accounts[2]?.begin('pages');
  ask('d').begin('pages');
  assert.deepEqual(refusals, ['share', 'share']);
});

test('searches are timed in windows; pages and records are given all the same', () => {
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
  assert.throws(() => account.begin('searches'), told('searchedTooLong', 200, message));
  account.begin('pages');
  ask('b').begin('searches');
  account.close();
  assert.throws(
    () => ask('a').begin('searches'),
    told('searchedTooLong', 200, message),
    'also when it comes anew',
  );
  advance(199_500);
  ask('a').begin('searches');
});

test('the operator is refused nothing', () => {
  const { budgets } = budgetsOf();
  for (let index = 0; index < 10; index++) {
    const account = budgets.open('127.0.0.1');
    account.exempt();
    account.belongsTo('admin');
    account.made(50 * MEGABYTE);
    account.begin('searches');
  }
});

test('unused budgets are removed', () => {
  const { budgets, ask, advance } = budgetsOf();
  for (let index = 0; index < 1000; index++) {
    const account = ask(`key ${index}`);
    account.begin('searches');
    account.close();
  }
  assert.equal(budgets.size, 1000, 'of a window that runs is known what was used in it');
  for (let index = 0; index < 100; index++) ask(`other ${index}`).close();
  assert.equal(budgets.size, 1000, 'who searched nothing leaves nothing');
  advance(300_000);
  ask('next').close();
  assert.equal(budgets.size, 0);
});

function paceOf() {
  let now = 0;
  const pace = new Pace({ bytesPerSecond: 1000, seconds: 10 }, () => now);
  pace.close(); // no timer looks, the test does
  const cut: string[] = [];
  return {
    watch: (name: string) => pace.watch(() => void cut.push(name)),
    after: (seconds: number): readonly string[] => {
      now += seconds * 1000;
      pace.look();
      return cut.splice(0);
    },
  };
}

test('a client that takes nothing, or too little, is cut; one that is quick enough is not', () => {
  const { watch, after } = paceOf();
  const [none, little, enough] = [watch('none'), watch('little'), watch('enough')];
  for (const sender of [none, little, enough]) sender.waits();
  little.took(9999, true);
  enough.took(10_000, true);
  assert.deepEqual(after(9.9), []);
  assert.deepEqual(after(0.1), ['none', 'little']);
  assert.deepEqual(after(10), ['enough'], 'each window counts by itself');
});

test('time in which nothing waits for the client does not count', () => {
  const { watch, after } = paceOf();
  const sender = watch('a');
  assert.deepEqual(after(100), [], 'the store takes as long as it takes');
  sender.waits();
  sender.took(1, false);
  assert.deepEqual(after(100), []);
  sender.waits();
  assert.deepEqual(after(5), []);
  sender.waits();
  assert.deepEqual(after(5), ['a'], 'what is added does not begin it anew');
  const ended = watch('b');
  ended.waits();
  ended.end();
  assert.deepEqual(after(100), []);
});

test('nothing is started for a client that has disconnected, however long it has waited', () => {
  let gone = false;
  const { budgets } = budgetsOf();
  const account = budgets.open('127.0.0.1', () => gone);
  account.belongsTo('a');
  account.begin('searches');
  gone = true;
  for (const lane of ['records', 'pages', 'searches'] as const) {
    assert.throws(() => account.begin(lane), { code: 'clientGone', status: 408 });
  }
  account.close();
  assert.equal(budgets.requests, 0);
});
