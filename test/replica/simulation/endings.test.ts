/** Every history ends, whatever hangs in it, and reports where it hangs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteGround } from './ground.ts';
import { simulate } from './simulate.ts';
import { threadIsQuiet, VirtualTime } from './time.ts';
import { Traffic } from './traffic.ts';

const ground = sqliteGround();
const HOUR = 3_600_000;

test('a history that takes too much virtual time reports how far it is', async () => {
  const most = { virtual: HOUR / 2, real: 60_000 };
  const { failure } = await simulate({ seed: 14, ground, most, plan: { changes: 30, pace: 1 } });
  assert.match(
    failure ?? '',
    /^every history ends: it did not within 0\.02\d* days of its time, and stands at 2026-06-0\d\S+Z; nothing is under way; \d+ sleep$/,
  );
});

test('a history that waits for a call that does not end names the call', async () => {
  const still = { ...ground, quiet: () => new Promise<never>(() => undefined), underWay: () => ['commit'] };
  const { failure } = await simulate({ seed: 14, ground: still, most: { virtual: HOUR, real: 20 } });
  assert.match(
    failure ?? '',
    /^every history ends: it did not within 0\.02 s, and stands at 2026-06-01T20:00:00\.000Z; under way: commit; \d+ sleep$/,
  );
});

test('time advances while a call of a store waits for its clock, and stands still while it waits for the server', async () => {
  const traffic = new Traffic();
  const { quiet, underWay } = traffic;
  const most = { virtual: HOUR, real: 60_000 };
  const time = new VirtualTime({ start: 0, grain: 1, quiet, most, underWay });
  const clock = traffic.clock(time.clock());
  const seen: string[] = [];
  const note = (what: string): void => void seen.push(`${what} at ${time.now}`);
  const answer = Promise.withResolvers<void>();
  const write = async (): Promise<void> => {
    await clock.sleep(100);
    note('the clock is there');
    await answer.promise;
    note('the server answers');
  };
  const other = async (): Promise<void> => {
    await time.sleep(500);
    note('another wakes');
  };
  const work = Promise.all([traffic.during(write(), 'write'), other()]);
  const running = time.run(work);
  for (let turn = 0; turn < 20; turn++) await threadIsQuiet();
  assert.deepEqual([seen, underWay()], [['the clock is there at 100'], ['write']]);
  answer.resolve();
  await running;
  assert.deepEqual(seen.slice(1), ['the server answers at 100', 'another wakes at 500']);
});

test('time advances while a write waits for a transaction of its database that waits for the clock', async () => {
  const traffic = new Traffic();
  const { quiet, underWay } = traffic;
  const time = new VirtualTime({ start: 0, grain: 1, quiet, most: { virtual: HOUR, real: 2000 }, underWay });
  const committed = traffic.clock(time.clock(), 'a').sleep(100);
  const work = Promise.all([
    traffic.during(committed, 'commit', 'a'),
    traffic.during(committed, 'exchange', 'a'),
  ]);
  await time.run(work);
  assert.equal(time.now, 100);

  const answer = Promise.withResolvers<void>();
  const running = time.run(
    Promise.all([
      traffic.during(traffic.clock(time.clock(), 'a').sleep(100), 'commit', 'a'),
      traffic.during(answer.promise, 'exchange', 'b'),
    ]),
  );
  for (let turn = 0; turn < 20; turn++) await threadIsQuiet();
  assert.deepEqual([time.now, underWay()], [100, ['commit', 'exchange']]);
  answer.resolve();
  await running;
  assert.equal(time.now, 200);
});
