/** A queue for a scarce resource in which no caller waits for another one's many requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PlatError } from '../../src/errors/index.ts';
import { FairQueue, type Permit, type QueueBounds } from '../../src/shared/fair-queue.ts';

function queueOf(bounds: Partial<QueueBounds> = {}) {
  let now = 0;
  const queue = new FairQueue({ turns: 1, long: true, waiting: 100, ...bounds }, () => now);
  const order: string[] = [];
  const turns = new Map<string, Permit>();
  const refused: string[] = [];
  /** Requests turns, and records their names when they begin. */
  const ask = (name: string, ...jobs: readonly string[]): void => {
    for (const job of jobs) {
      queue.acquire(name).then(
        (turn) => {
          order.push(job);
          turns.set(job, turn);
        },
        (error: unknown) => {
          assert.ok(error instanceof PlatError && error.code === 'overloaded' && error.retryAfter === 5);
          refused.push(job);
        },
      );
    }
  };
  const end = async (job: string, milliseconds = 0): Promise<void> => {
    now += milliseconds;
    const turn = turns.get(job);
    assert.ok(turn !== undefined, `${job} has no turn`);
    turn.release();
    turn.release(); // once is enough
    await setImmediate();
  };
  return { queue, ask, end, order, refused };
}

test('a caller with one request does not wait behind all earlier requests of another', async () => {
  const { queue, ask, end, order } = queueOf();
  ask('greedy', 'g1', 'g2', 'g3', 'g4');
  ask('modest', 'm1');
  await setImmediate();
  assert.deepEqual(order, ['g1']);
  await end('g1', 100);
  assert.deepEqual(order, ['g1', 'm1']);
  await end('m1', 1);
  await end('g2', 100);
  await end('g3', 100);
  await end('g4', 100);
  assert.deepEqual(order, ['g1', 'm1', 'g2', 'g3', 'g4']);
  assert.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('callers are compared by the time that they used, not by the number of turns', async () => {
  const { ask, end, order } = queueOf();
  ask('slow', 's1', 's2', 's3');
  ask('quick', ...Array.from({ length: 30 }, (_, index) => `q${index}`));
  await setImmediate();
  await end('s1', 100);
  for (let index = 0; index < 10; index++) await end(`q${index}`, 10);
  assert.ok(order.indexOf('s2') >= 10 && order.indexOf('s2') <= 12, String(order));
});

test('a caller that was absent gets no extra time for that', async () => {
  const { ask, end, order } = queueOf();
  ask('steady', ...Array.from({ length: 20 }, (_, index) => `s${index}`));
  await setImmediate();
  for (let index = 0; index < 10; index++) await end(`s${index}`, 100);
  ask('late', 'l0', 'l1', 'l2', 'l3');
  await setImmediate();
  await end('s10', 100);
  await end('l0', 100);
  assert.deepEqual(order.slice(10), ['s10', 'l0', 's11']);
});

test('a single caller cannot take every turn, and the requests of a caller keep their order', async () => {
  const { queue, ask, end, order } = queueOf({ turns: 4 });
  ask('greedy', 'g1', 'g2', 'g3', 'g4', 'g5');
  await setImmediate();
  assert.deepEqual(order, ['g1', 'g2', 'g3']);
  ask('modest', 'm1', 'm2');
  await setImmediate();
  assert.deepEqual(order, ['g1', 'g2', 'g3', 'm1']);
  await end('g2');
  assert.deepEqual(order, ['g1', 'g2', 'g3', 'm1', 'm2'], 'the caller with fewer turns comes first');
  await end('g1');
  assert.deepEqual(order.at(-1), 'g4');
  assert.equal(queue.running, 4);
  for (const job of ['g3', 'm1', 'm2']) await end(job);
  assert.deepEqual(order.slice(5), ['g4', 'g5']);
});

test('next to others no caller has more than an equal share, even while these pause for a moment', async () => {
  const { queue, ask, end, order } = queueOf({ turns: 6 });
  ask('modest', 'm1');
  await setImmediate();
  await end('m1');
  ask('greedy', ...Array.from({ length: 9 }, (_, index) => `g${index}`));
  await setImmediate();
  assert.deepEqual(order, ['m1', 'g0', 'g1', 'g2']);
  ask('modest', 'm2', 'm3', 'm4', 'm5');
  await setImmediate();
  assert.deepEqual(order.slice(4), ['m2', 'm3', 'm4']);
  for (const job of ['m2', 'm3', 'm4', 'm5']) await end(job);
  await end('g0', 1001);
  assert.deepEqual(order.slice(8), ['g3', 'g4'], 'alone again, it gets every turn except the reserved ones');
  assert.equal(queue.running, 4);
});

test('one caller may take every turn if turns are short', async () => {
  const { ask, end, order } = queueOf({ turns: 2, long: false });
  ask('only', 'o1', 'o2', 'o3');
  ask('late', 'l1');
  await setImmediate();
  assert.deepEqual(order, ['o1', 'o2']);
  await end('o1');
  assert.deepEqual(order, ['o1', 'o2', 'l1']);
});

test('beyond the limit of the queue, only the caller with the most requests is rejected', async () => {
  const { queue, ask, refused } = queueOf({ waiting: 5 });
  ask('greedy', 'g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6');
  await setImmediate();
  assert.deepEqual(refused, ['g6']);
  ask('modest', 'm1', 'm2');
  await setImmediate();
  assert.deepEqual(refused, ['g6', 'g5', 'g4']);
  assert.equal(queue.waiting, 5);
});

test('a request that has waited too long is rejected, and no longer counts', async () => {
  const { queue, ask, end, order, refused } = queueOf({ patience: 1 });
  ask('a', 'a1', 'a2');
  while (refused.length === 0) await setImmediate();
  assert.deepEqual([order, refused, queue.waiting], [['a1'], ['a2'], 0]);
  await end('a1');
  ask('b', 'b1');
  await setImmediate();
  assert.deepEqual(order, ['a1', 'b1']);
});
