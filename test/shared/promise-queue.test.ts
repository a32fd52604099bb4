/** Work that runs in sequence, and work that is awaited together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunked } from '../../src/shared/chunked.ts';
import { oncePerTurn, PromiseQueue, settleAll } from '../../src/shared/promise-queue.ts';

test('queued work runs in the order of the calls, and a failure does not stop later work', async () => {
  const queue = new PromiseQueue();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const results = [
    queue.run(async () => {
      log.push('a begins');
      await first.promise;
      log.push('a ends');
      return 1;
    }),
    queue.run(async () => {
      log.push('b fails');
      throw new Error('b');
    }),
    queue.run(async () => log.push('c')),
  ];
  const idle = queue.idle().then(() => log.push('idle'));
  first.resolve();
  const settled = await Promise.allSettled(results);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  await idle;
  assert.deepEqual(log, ['a begins', 'a ends', 'b fails', 'c', 'idle']);
});

test('the first failure is thrown after all work has ended', async () => {
  const slow = Promise.withResolvers<void>();
  let hasEnded = false;
  const settled = settleAll([
    Promise.reject(new Error('first')),
    slow.promise.then(() => {
      hasEnded = true;
      throw new Error('second');
    }),
  ]);
  slow.resolve();
  await assert.rejects(settled, /^Error: first$/);
  assert.equal(hasEnded, true);
  await settleAll([Promise.resolve(1)]);
});

test('chunks of a list have the given size, and the last one the rest', () => {
  assert.deepEqual([...chunked([1, 2, 3, 4, 5], 2)], [[1, 2], [3, 4], [5]]);
  assert.deepEqual([...chunked([], 2)], []);
});

test('calls with the same name in a turn of the event loop share one run, after all of them', async () => {
  const runs: string[] = [];
  const ask = oncePerTurn(async (name) => {
    runs.push(name);
    if (name === 'c') throw new Error('c');
    return runs.length;
  });
  const asked = [ask('a'), ask('b'), ask('a')];
  assert.deepEqual(runs, []);
  assert.deepEqual(await Promise.all(asked), [1, 2, 1]);
  assert.equal(await ask('a'), 3, 'a later call runs again');
  const failed = await Promise.allSettled([ask('c'), ask('c')]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(runs, ['a', 'b', 'a', 'c']);
});
