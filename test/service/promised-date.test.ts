/** I2: a client begins its next window at the `Date` of a response, so no later timestamp may be before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platError } from '../../src/errors/index.ts';
import { PromisedDate } from '../../src/service/reply/promised-date.ts';
import { listing } from '../support/builders.ts';
import { SECOND } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { startTestService } from '../support/service.ts';
import { operations } from '../support/world.ts';

const MINUTE = 60 * SECOND;
/** The margin that clients leave between the `Date` of a response and the end of their windows (specification 4.4). */
const SETTLE = 5 * SECOND;

/** A service, and processes that import next to it, all on one clock. */
async function place(scope: Scope) {
  const service = await startTestService(scope);
  const token = await service.key('replication');
  let key = 0;
  return {
    ...service,
    /** The `Date` of a response. */
    date: async (): Promise<number> => {
      const { headers } = await service.get('replication', '/Reso/OData/Property?$top=1', { token });
      return Date.parse(String(headers.date));
    },
    /** The timestamp of a record that a new process writes. */
    stamped: async (): Promise<number> => {
      const process = operations(await service.again(), service.clock);
      const { stamp } = await process.write('Property', listing(String(++key)));
      return Date.parse(String(stamp));
    },
  };
}

test('a record stored after a Date was sent has no earlier timestamp, even if the clock was set back', async (t) => {
  const { clock, date: dateNow, stamped } = await place(t);
  for (const pause of [10 * MINUTE, 1500, 900, 1999, 2500, 2000, 61 * MINUTE]) {
    clock.advance(pause);
    const date = await dateNow();
    clock.advance(-7 * MINUTE);
    const stamp = await stamped();
    clock.advance(7 * MINUTE);
    assert.ok(stamp > date - SETTLE, `stamped ${date - stamp} ms before it, after ${pause} ms`);
  }
});

test('a Date lags behind the clock while another process writes and no promise is valid, and is kept afterwards', async (t) => {
  const { clock, hold, date: dateNow, stamped } = await place(t);
  await dateNow();
  const promised = clock.now();
  clock.advance(MINUTE);
  const release = await hold();
  const lagging = await dateNow();
  assert.equal(
    lagging,
    Math.floor((promised + SECOND) / SECOND) * SECOND,
    'the Date is the end of the last promise',
  );
  assert.ok(clock.now() < promised + MINUTE + 3 * SECOND, 'the response does not wait long');
  await release();
  const date = await dateNow();
  assert.ok(date >= promised + MINUTE - SECOND);
  clock.advance(-MINUTE);
  assert.ok((await stamped()) >= date);
});

test('a 503 because the store does not respond does not wait for the store to promise its Date', async (t) => {
  let isFrozen = false;
  const unlessFrozen = <T>(result: () => Promise<T>, frozen: () => Promise<T>) =>
    isFrozen ? frozen() : result();
  const service = await startTestService(t, {
    service: (store) => ({
      store: {
        ...store,
        look: (hash) =>
          unlessFrozen(
            () => store.look(hash),
            () => Promise.reject(platError('storeUnavailable', {}, { retryAfter: 5 })),
          ),
        horizon: () => unlessFrozen(store.horizon, () => new Promise(() => undefined)),
      },
    }),
  });
  const token = await service.key('replication');
  const ask = () => service.get('replication', '/Reso/OData/Property?$top=1', { token });
  const { status, headers } = await ask();
  assert.equal(status, 200);
  isFrozen = true;
  service.clock.advance(MINUTE);
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
  const later = Date.parse(String(refused.headers.date)) - Date.parse(String(headers.date));
  assert.ok(later >= 0 && later <= SECOND, 'the Date is covered by the last promise');
});

test('a Date is never later than a valid promise, and waits only when it lags by more than a few seconds', async () => {
  const state = { now: 1_000_000, kept: 0, asked: 0, slept: 0, isBroken: true, isFree: true };
  const store = {
    now: async () => state.now,
    horizon: async () => {
      state.asked++;
      if (state.isBroken) throw new Error('The disk is full');
      if (state.isFree) state.kept = state.now;
      return { now: state.now, settled: state.now, standsUntil: state.kept + SECOND };
    },
  };
  const clock = {
    sleep: async (milliseconds: number) => {
      state.slept += milliseconds;
      await sleeping();
    },
  };
  const moment = new PromisedDate(store, clock);
  let sleeping = async (): Promise<void> => undefined;
  const look = async (): Promise<readonly [lag: number, asked: number, slept: number]> => {
    const { asked, slept } = state;
    const date = await moment.now();
    await new Promise(setImmediate);
    return [date - state.now, state.asked - asked, state.slept - slept];
  };
  assert.deepEqual(
    [await look(), await look()],
    [
      [0, 1, 0],
      [0, 1, 0],
    ],
    'a store that cannot save promises does not delay responses',
  );
  state.isBroken = false;
  assert.deepEqual(
    [await look(), await look()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
  );
  state.now += 500;
  assert.deepEqual(await look(), [0, 0, 0]);
  state.now += 1;
  assert.deepEqual(
    [await look(), await look()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
    'the next promise is made in time',
  );
  state.isFree = false;
  state.now += 1001;
  assert.deepEqual(
    [await look(), await look()],
    [
      [-1, 1, 0],
      [-1, 1, 0],
    ],
  );
  state.now += 5000;
  assert.deepEqual(await look(), [-5001, 401, 2000], 'a Date that lags by more waits for up to 2 s');
  sleeping = () => new Promise<void>(() => undefined);
  assert.deepEqual(await look(), [-5001, 1, 5], 'the next response does not wait for the same writer');
  assert.deepEqual(await look(), [-5001, 1, 0]);
  state.isFree = true;
  assert.deepEqual(await look(), [0, 1, 0]);
  state.now -= MINUTE;
  assert.deepEqual(
    [await look(), await look()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
    'after the clock was set back, a new promise is made',
  );
});

test('the first responses of a store that never made a promise wait for one', async () => {
  const state = { now: 1_000_000_000, slept: 0 };
  const horizon = async () => {
    const isFree = state.slept >= 10 * SECOND;
    return { now: state.now, settled: 0, standsUntil: (isFree ? state.now : 0) + SECOND };
  };
  const sleep = async (milliseconds: number) => {
    state.slept += milliseconds;
    state.now += milliseconds;
  };
  const moment = new PromisedDate({ now: async () => state.now, horizon }, { sleep });
  assert.equal(await moment.now(), 1_000_000_000 + 10 * SECOND);
});
