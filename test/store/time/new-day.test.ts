/** The work of a new day: in the background, one at a time, repeated when another process has the write lock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeModel } from '../../../src/compile/model.ts';
import { EMPTY_PROFILE } from '../../../src/records/profile.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { NewDay } from '../../../src/store/time/new-day.ts';

const MIDNIGHT = Date.parse('2026-06-02T00:00:00Z');
const STORED = makeModel({
  generation: 1,
  epoch: 'first',
  settings: DEFAULT_SETTINGS,
  profile: EMPTY_PROFILE,
  day: '2026-06-01',
});

test('before midnight nothing is done, and the stored model is used', () => {
  const newDay = new NewDay(() => assert.fail('there is nothing to do'));
  assert.equal(newDay.modelAt(STORED, MIDNIGHT - 1), STORED);
  // A clock that was set back over midnight does not undo the day.
  assert.equal(newDay.modelAt(STORED, MIDNIGHT - 5 * 86_400_000), STORED);
});

test('from midnight on reads use the rules of the new day at once, while the work is in progress', async () => {
  const works: PromiseWithResolvers<void>[] = [];
  let elapsed = 0;
  const newDay = new NewDay(
    () => {
      const work = Promise.withResolvers<void>();
      works.push(work);
      return work.promise;
    },
    () => elapsed,
  );
  const model = newDay.modelAt(STORED, MIDNIGHT);
  assert.deepEqual([model.day, model.visibilityDay, model.generation], ['2026-06-02', '2026-06-01', 1]);
  assert.equal(newDay.modelAt(STORED, MIDNIGHT + 1), model, 'the model is made once a day');
  assert.equal(works.length, 1);
  // However long it takes, there is one at a time.
  elapsed += 60_000;
  newDay.modelAt(STORED, MIDNIGHT);
  assert.equal(works.length, 1);
  // Another process had the lock: reads do not fail, and the work is repeated after a while.
  works[0]?.reject(new Error('busy'));
  await newDay.whenIdle();
  newDay.modelAt(STORED, MIDNIGHT);
  assert.equal(works.length, 2, 'a minute has passed since the last attempt');
  works[1]?.reject(new Error('busy'));
  await newDay.whenIdle();
  elapsed += 4999;
  newDay.modelAt(STORED, MIDNIGHT);
  assert.equal(works.length, 2);
  elapsed += 1;
  newDay.modelAt(STORED, MIDNIGHT);
  assert.equal(works.length, 3);
  works[2]?.resolve();
  await newDay.whenIdle();
});

test('a day whose work has failed for a minute is reported, until it succeeds', async () => {
  let elapsed = 0;
  const broken = new Error('disk full');
  let isBroken = true;
  const newDay = new NewDay(
    async () => {
      if (isBroken) throw broken;
    },
    () => elapsed,
  );
  const tryOnce = async (): Promise<void> => {
    newDay.modelAt(STORED, MIDNIGHT);
    await newDay.whenIdle();
    elapsed += 5000;
  };
  for (let times = 1; times < 12; times++) {
    await tryOnce();
    assert.equal(newDay.overdue, undefined, 'an import may hold the lock for this long');
  }
  await tryOnce();
  assert.deepEqual([newDay.overdue?.day, newDay.overdue?.error], ['2026-06-02', broken]);
  isBroken = false;
  await tryOnce();
  assert.equal(newDay.overdue, undefined);
});
