/** A loan that is kept between uses: when it is shared, replaced and returned. */
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { KeptLoan } from '../../src/shared/kept-loan.ts';

interface Thing extends Disposable {
  readonly id: number;
}

let made: number;
let returned: number[];
let refusal: Error | undefined;
const lost = new Set<number>();
beforeEach(() => {
  [made, returned, refusal] = [0, [], undefined];
  lost.clear();
});

const borrow = async (): Promise<Thing> => {
  if (refusal !== undefined) throw refusal;
  const id = ++made;
  return { id, [Symbol.dispose]: () => void returned.push(id) };
};

const idOf = async ({ id }: Thing): Promise<number> => id;

test('uses share one loan, concurrently and one after the other', async () => {
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  assert.deepEqual(await Promise.all([kept.use(idOf), kept.use(idOf)]), [1, 1]);
  assert.equal(await kept.use(idOf), 1);
  assert.deepEqual(returned, []);
  kept.leave();
  await undefined;
  assert.deepEqual(returned, [1]);
});

test('a loan that is left is returned after its last use, and later uses get another one', async () => {
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  const { promise, resolve } = Promise.withResolvers<void>();
  const long = kept.use(async ({ id }) => {
    await promise;
    return id;
  });
  await kept.use(idOf);
  kept.leave();
  assert.equal(await kept.use(idOf), 2);
  assert.deepEqual(returned, []);
  resolve();
  assert.equal(await long, 1);
  await undefined;
  assert.deepEqual(returned, [1]);
  kept.leave();
});

test('after a use that failed, the next one gets another loan', async () => {
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  const failed = kept.use(async () => {
    throw new Error('lost');
  });
  await assert.rejects(failed, /lost/);
  assert.deepEqual(returned, [1]);
  assert.equal(await kept.use(idOf), 2);
  kept.leave();
});

test('a loan that was lost while nothing used it is returned, and the next use gets another one', async () => {
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  assert.equal(await kept.use(idOf), 1);
  lost.add(1);
  assert.deepEqual(await Promise.all([kept.use(idOf), kept.use(idOf)]), [2, 2]);
  assert.deepEqual(returned, [1]);
  kept.leave();
});

test('a loan that was refused is requested again', async () => {
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  refusal = new Error('full');
  await assert.rejects(kept.use(idOf), /full/);
  refusal = undefined;
  assert.equal(await kept.use(idOf), 1);
  kept.leave();
});

test('an unused loan is returned after a while; one whose use does not end is replaced for later uses', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    mock.timers.tick(milliseconds);
    await undefined;
  };
  const kept = new KeptLoan(borrow, ({ id }) => lost.has(id));
  await kept.use(idOf);
  await pass(900);
  await kept.use(idOf);
  await pass(1000);
  assert.deepEqual(returned, []);
  await pass(1001);
  assert.deepEqual(returned, [1]);

  const { promise, resolve } = Promise.withResolvers<void>();
  const stuck = kept.use(() => promise);
  await pass(1000);
  assert.equal(await kept.use(idOf), 2, 'the use is not late yet');
  await pass(1001);
  assert.equal(await kept.use(idOf), 3);
  assert.deepEqual(returned, [1]);
  resolve();
  await stuck;
  await undefined;
  assert.deepEqual(returned, [1, 2]);
  kept.leave();
});
