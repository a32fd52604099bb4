/** I2: a client begins its next window at the `Date` of an answer, so no later timestamp falls before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PromisedDate } from '../../src/service/reply/promised-date.ts';
import { listing } from '../support/builders.ts';
import { SECOND } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { startTestService } from '../support/service.ts';
import { operations } from '../support/world.ts';

const MINUTE = 60 * SECOND;
/** What clients leave between the moment that they are told and the end of their windows (specification 4.4). */
const SETTLE = 5 * SECOND;

/** A service that is asked, and processes that import beside it, all on one clock. */
async function place(scope: Scope) {
  const service = await startTestService(scope);
  const token = await service.key('replication');
  let key = 0;
  return {
    ...service,
    told: async (): Promise<number> => {
      const { headers } = await service.get('replication', '/Reso/OData/Property?$top=1', { token });
      return Date.parse(String(headers.date));
    },
    /** The timestamp of what a process stores that has just begun. */
    stamped: async (): Promise<number> => {
      const process = operations(await service.again(), service.clock);
      const { stamp } = await process.write('Property', listing(String(++key)));
      return Date.parse(String(stamp));
    },
  };
}

test('what is stored after a Date was sent has no earlier timestamp, even if the clock was set back', async (t) => {
  const { clock, told, stamped } = await place(t);
  for (const pause of [10 * MINUTE, 1500, 900, 1999, 2500, 2000, 61 * MINUTE]) {
    clock.advance(pause);
    const date = await told();
    clock.advance(-7 * MINUTE);
    const stamp = await stamped();
    clock.advance(7 * MINUTE);
    assert.ok(stamp > date - SETTLE, `stamped ${date - stamp} ms before it, after ${pause} ms`);
  }
});

test('a Date lags behind the clock while another process writes and no promise is valid, and is kept afterwards', async (t) => {
  const { clock, hold, told, stamped } = await place(t);
  await told();
  const promised = clock.now();
  clock.advance(MINUTE);
  const release = await hold();
  const lagging = await told();
  assert.equal(
    lagging,
    Math.floor((promised + SECOND) / SECOND) * SECOND,
    'it is the end of the last promise',
  );
  assert.ok(clock.now() < promised + MINUTE + 3 * SECOND, 'no answer waits for long');
  await release();
  const date = await told();
  assert.ok(date >= promised + MINUTE - SECOND);
  clock.advance(-MINUTE);
  assert.ok((await stamped()) >= date);
});

test('no Date is later than a valid promise; one that lags by seconds delays no response', async () => {
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
    },
  };
  const moment = new PromisedDate(store, clock);
  const tell = async (): Promise<readonly [told: number, asked: number, slept: number]> => {
    const { asked, slept } = state;
    const told = await moment.now();
    await new Promise(setImmediate);
    return [told - state.now, state.asked - asked, state.slept - slept];
  };
  assert.deepEqual(
    [await tell(), await tell()],
    [
      [0, 1, 0],
      [0, 1, 0],
    ],
    'what cannot be kept is told',
  );
  state.isBroken = false;
  assert.deepEqual(
    [await tell(), await tell()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
  );
  state.now += 500;
  assert.deepEqual(await tell(), [0, 0, 0]);
  state.now += 1;
  assert.deepEqual(
    [await tell(), await tell()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
    'the next promise is made in time',
  );
  state.isFree = false;
  state.now += 1001;
  assert.deepEqual(
    [await tell(), await tell()],
    [
      [-1, 1, 0],
      [-1, 1, 0],
    ],
  );
  state.now += 5000;
  assert.deepEqual(await tell(), [-5001, 401, 2000], 'one that lags by more waits for a while');
  state.isFree = true;
  assert.deepEqual(await tell(), [0, 1, 0]);
  state.now -= MINUTE;
  assert.deepEqual(
    [await tell(), await tell()],
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
    'it is kept anew in a new epoch',
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
