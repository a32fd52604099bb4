import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { nonZero } from '../../support/reports.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

/** A store in which the next transactions seem to take 3 s: the clock is read in each of them. */
async function slowWorld(t: TestContext) {
  const clock = testClock();
  const state = { slow: 0, passed: 0, tick: 0 };
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + state.passed);
  const dragging = {
    ...clock,
    now: () => {
      if (state.slow > 0) {
        state.slow--;
        state.passed += 3000;
        clock.advance(3000);
      }
      clock.advance(state.tick);
      return clock.now();
    },
  };
  return { state, world: await makeWorld(sqliteEngine(), t, { clock: dragging }) };
}

test('a transaction that takes too long is rolled back, and repeated in halves with new timestamps', async (t) => {
  const { state, world } = await slowWorld(t);
  const records = await Promise.all(['A', 'B', 'C'].map((key) => world.parse('Property', listing(key))));
  state.slow = 1;
  const report = await world.store.write('Property', records);
  assert.deepEqual(nonZero(report), { inserted: 3 });
  assert.equal(report.stamp, '2026-06-01T12:00:03.5002Z');
  assert.deepEqual(await world.rows('Property', '$select=ListingKey,ModificationTimestamp'), [
    { ListingKey: 'A', ModificationTimestamp: '2026-06-01T12:00:03.500Z' },
    { ListingKey: 'B', ModificationTimestamp: '2026-06-01T12:00:03.5001Z' },
    { ListingKey: 'C', ModificationTimestamp: report.stamp },
  ]);

  state.slow = 1;
  assert.deepEqual(nonZero(await world.store.remove('Property', ['A', 'B'])), { deleted: 2 });
  assert.deepEqual(await world.keys('Property'), ['C']);
});

test('a single record is written again after the machine was suspended', async (t) => {
  const { state, world } = await slowWorld(t);
  const record = await world.parse('Property', listing('A'));
  state.slow = 2;
  assert.deepEqual(nonZero(await world.store.write('Property', [record])), { inserted: 1 });
  state.slow = 2;
  assert.deepEqual(nonZero(await world.store.remove('Property', ['A'])), { deleted: 1 });
});

test('transactions become smaller after one that took too long, and slowly larger again', async (t) => {
  const { state, world } = await slowWorld(t);
  const write = async (letter: string, slow = 0): Promise<number> => {
    const keys = Array.from({ length: 8 }, (_, at) => `${letter}${at}`);
    const records = await Promise.all(keys.map((key) => world.parse('Property', listing(key))));
    state.slow = slow;
    await world.store.write('Property', records);
    const rows = await world.rows('Property', '$select=ListingKey,ModificationTimestamp');
    const own = rows.filter(({ ListingKey }) => String(ListingKey).startsWith(letter));
    const moments = own.map(({ ModificationTimestamp }) => Date.parse(String(ModificationTimestamp)));
    const sorted = moments.toSorted((left, right) => left - right);
    return sorted.filter((moment, at) => moment - (sorted[at - 1] ?? 0) > 50).length;
  };
  state.tick = 100; // the timestamps of two transactions lie further from each other than those of one
  assert.equal(await write('A', 1), 2, '8 take too long; 4 and 4 do not');
  assert.equal(await write('B'), 2, '7, and the rest');
  assert.equal(await write('C'), 1, 'all 8 again');
});
