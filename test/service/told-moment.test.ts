/** I2: a client begins its next window at the `Date` of an answer, so no later timestamp falls before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToldMoment } from '../../src/service/told-moment.ts';
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

test('what is stored after a Date was told is not stamped before it, though the clock was set back', async (t) => {
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

test('a Date that is told while somebody else writes is kept with the first answer afterwards', async (t) => {
  const { clock, hold, told, stamped } = await place(t);
  await told();
  clock.advance(MINUTE);
  const release = await hold();
  await told();
  await release();
  const date = await told();
  clock.advance(-MINUTE);
  assert.ok((await stamped()) >= date);
});

test('a moment is told while the store cannot keep it, and kept at once in a new epoch', async () => {
  const state = { now: 1_000_000, asked: 0, isBroken: true };
  const moment = new ToldMoment({
    now: async () => state.now,
    horizon: async () => {
      state.asked++;
      if (state.isBroken) throw new Error('The disk is full');
      return { now: state.now, settled: state.now };
    },
  });
  const tell = async (): Promise<number> => {
    assert.equal(await moment.now(), state.now);
    await new Promise(setImmediate);
    return state.asked;
  };
  assert.deepEqual([await tell(), await tell()], [1, 2]);
  state.isBroken = false;
  assert.deepEqual([await tell(), await tell()], [3, 3]);
  state.now += 1999;
  assert.equal(await tell(), 3);
  state.now += 1;
  assert.equal(await tell(), 4);
  state.now -= MINUTE;
  assert.deepEqual([await tell(), await tell()], [5, 5]);
});
