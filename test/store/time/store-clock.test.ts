/** Distinguishing a clock that was set ahead from one by which time has passed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeServerClock } from '../../../src/engines/postgres/writing/server-clock.ts';
import { durationText } from '../../../src/shared/clock.ts';
import { JumpGuard, parseReading, type StoredTime } from '../../../src/store/time/store-clock.ts';
import { DAY, SECOND } from '../../support/clock.ts';

const HOUR = 3600 * SECOND;
const NOON = Date.parse('2026-06-01T12:00:00Z');

/** A machine on which time passes, and a store that keeps the readings of its writers. */
function world() {
  const state = { boot: 'first', clock: NOON, uptime: 50 * HOUR, elapsed: 0, looks: 0 };
  let held: StoredTime = { reading: undefined, newest: 0 };
  return {
    state,
    held: () => held,
    pass(milliseconds: number): void {
      state.clock += milliseconds;
      state.uptime += milliseconds;
      state.elapsed += milliseconds;
    },
    /** A process that reads the clock, and writes if the clock has not jumped. */
    process() {
      const uptime = (): number => {
        state.looks++;
        return state.uptime;
      };
      const guard = new JumpGuard({ boot: state.boot, uptime, elapsed: () => state.elapsed }, () => held);
      return {
        write(): number {
          const jump = guard.jump(state.clock);
          const reading = guard.readingToStore(state.clock);
          if (reading !== undefined) held = { ...held, reading: parseReading(reading) };
          if (jump === 0) held = { ...held, newest: Math.max(held.newest, state.clock) };
          return jump;
        },
        jump: () => guard.jump(state.clock),
        setBack: () => guard.setBack(state.clock),
        allow: () => guard.trust(state.clock),
        confirm: (other: number) => guard.confirm(state.clock, other),
        /** Restamps the store in a new epoch. */
        restamp(): void {
          guard.inEpoch('another');
          held = { ...held, newest: state.clock };
          guard.trust(state.clock, 'restamped');
          held = { ...held, reading: parseReading(guard.readingToStore(state.clock)) };
        },
      };
    },
  };
}

test('time that passes is not a jump, however long nothing was written', () => {
  const at = world();
  const first = at.process();
  assert.equal(first.write(), 0);
  at.pass(365 * DAY);
  assert.equal(first.write(), 0);
  at.pass(365 * DAY);
  assert.equal(at.process().write(), 0);
  // The machine was off for a year.
  Object.assign(at.state, { boot: 'second', uptime: 60 * SECOND });
  at.state.clock += 365 * DAY;
  assert.equal(at.process().write(), 0);
});

test('a clock that is set ahead is detected by running and by new processes, until it is right again', () => {
  for (const ahead of [2 * DAY, 20 * 365 * DAY]) {
    const at = world();
    const running = at.process();
    running.write();
    at.pass(HOUR);
    at.state.clock += ahead;
    assert.equal(at.process().write(), ahead);
    assert.equal(running.write(), ahead);
    at.pass(HOUR);
    assert.equal(at.process().write(), ahead, 'the rejected reading was not stored');
    at.state.clock -= ahead;
    assert.equal(at.process().write(), 0);
    assert.equal(running.write(), 0);
  }
});

test("while the clock advances like the process, the machine's uptime is not read; after the machine slept it is", () => {
  const at = world();
  const running = at.process();
  assert.equal(running.jump(), 0);
  const { looks } = at.state;
  for (let hour = 0; hour < 5; hour++) {
    at.pass(HOUR);
    assert.equal(running.jump(), 0);
  }
  assert.equal(at.state.looks, looks);
  // The machine sleeps over the weekend.
  at.state.clock += 3 * DAY;
  at.state.uptime += 3 * DAY;
  assert.equal(running.jump(), 0);
  assert.equal(at.state.looks, looks + 1);
});

test('a confirmation applies to all processes', () => {
  const at = world();
  const running = at.process();
  running.write();
  at.state.clock += 2 * DAY;
  const confirmed = at.process();
  confirmed.allow();
  assert.equal(confirmed.write(), 0);
  assert.equal(running.write(), 0);
  assert.equal(at.process().write(), 0);
  // The next jump has to be confirmed again.
  at.state.clock += 3 * DAY;
  assert.equal(running.write(), 3 * DAY);
});

test('twelve hours on a paused machine are not a jump, nor is a clock that is set back', () => {
  const at = world();
  const running = at.process();
  running.write();
  at.state.clock += 12 * HOUR;
  assert.equal(running.write(), 0);
  at.state.clock -= 400 * DAY;
  assert.equal(running.write(), 0);
  assert.equal(at.process().write(), 0);
});

/**
 * What happens to a write on a right clock, after writes on a clock that was wrong: by how much it was wrong, and when the store was
 * last written to on a right clock, in which start of the machine.
 */
const AFTER: readonly (readonly [
  name: string,
  off: number,
  last: 'never' | 'this start' | 'start before',
  jump: number,
])[] = [
  ['behind, in a store that was written to on a right clock', -2 * DAY, 'this start', 0],
  ['behind what the store holds, after a start', -4 * DAY, 'start before', 0],
  [
    'before plat was written, as a machine without a battery begins',
    Date.parse('1970-01-01') - NOON,
    'never',
    0,
  ],
  ['ahead, and not noticed', 2 * DAY, 'never', 0],
  // These cannot be distinguished from a clock that is ahead now.
  ['behind, in a store that was made so', -2 * DAY, 'never', 2 * DAY],
  ['behind, yet later than what the store holds, after a start', -2 * DAY, 'start before', 2 * DAY],
];

for (const [name, off, last, jump] of AFTER) {
  test(`a clock that was ${name}, is ${jump === 0 ? 'accepted' : 'rejected until it is confirmed'}`, () => {
    const at = world();
    if (last !== 'never') at.process().write();
    at.pass(3 * DAY);
    if (last === 'start before') Object.assign(at.state, { boot: 'second', uptime: 60 * SECOND });
    at.state.clock += off;
    const running = at.process();
    assert.equal(running.write(), 0);
    at.pass(HOUR);
    at.state.clock -= off;
    assert.equal(at.process().write(), jump);
    assert.equal(running.write(), jump);
    // A clock that is ahead of both is detected afterwards.
    const confirmed = at.process();
    confirmed.allow();
    assert.equal(confirmed.write(), 0);
    at.state.clock += 5 * DAY;
    assert.equal(at.process().write(), 5 * DAY - Math.max(0, off - HOUR));
  });
}

test('a clock that was set back is distinguished from one that is right again', () => {
  const at = world();
  at.process().write();
  at.state.clock -= 2 * DAY;
  assert.equal(at.process().setBack(), 2 * DAY);
  at.state.clock += 4 * DAY;
  const confirmed = at.process();
  confirmed.allow();
  confirmed.write();
  assert.equal(confirmed.setBack(), 0);
  at.state.clock -= 2 * DAY;
  assert.equal(at.process().setBack(), 0);
  at.state.clock -= 2 * DAY;
  assert.equal(at.process().setBack(), 4 * DAY);
  at.state.clock += 2 * DAY;
  at.process().restamp();
  assert.deepEqual(at.held().reading, { boot: 'first', clock: NOON, uptime: 50 * HOUR });
  at.state.clock += 2 * DAY;
  assert.equal(at.process().write(), 2 * DAY);
});

test('another clock confirms a jump to about its own time, and no other', () => {
  const at = world();
  at.process().write();
  at.state.clock += 2 * DAY;
  const refused = at.process();
  refused.confirm(NOON);
  assert.equal(refused.write(), 2 * DAY);
  refused.confirm(at.state.clock + HOUR);
  assert.equal(refused.write(), 0);
  assert.equal(at.process().write(), 0);
});

test('with a database server, its clock counts, and the clock of this machine is ignored', (t) => {
  const machine = { boot: 'here', uptime: () => HOUR, elapsed: () => 0 };
  for (const own of [NOON - 2 * DAY, NOON, NOON + 2 * DAY]) {
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ['Date'], now: own });
    const clock = makeServerClock(undefined, { machine });
    clock.recordReading(NOON, '', { reading: { boot: 'here', clock: NOON, uptime: HOUR }, newest: NOON });
    t.mock.timers.setTime(own + 5 * DAY);
    assert.deepEqual([clock.jump(), clock.setBack(), clock.now(), clock.passedTime()], [0, 0, NOON, null]);
  }
});

test('a server whose clock was set is detected by the reading that the store keeps', () => {
  const machine = { boot: 'here', uptime: () => HOUR, elapsed: () => 0 };
  const reading = { boot: 'here', clock: NOON, uptime: HOUR };
  for (const [set, allowClockJump, jump, setBack] of [
    [2 * DAY, false, 2 * DAY, 0],
    [2 * DAY, true, 0, 0],
    [-2 * DAY, false, 0, 2 * DAY],
    [-2 * DAY, true, 0, 0],
    [HOUR, false, 0, 0],
  ] as const) {
    const clock = makeServerClock(undefined, { machine, allowClockJump });
    clock.recordReading(NOON + set, '', { reading, newest: NOON });
    assert.deepEqual([clock.jump(), clock.setBack()], [jump, setBack]);
    assert.equal(clock.now(), NOON + set - jump);
    assert.equal(clock.passedTime(), jump === 0 ? null : NOON);
  }
});

test('a stored reading that is invalid is ignored', () => {
  for (const text of [undefined, '', 'null', '[]', '{"boot":1}', '{"boot":"a","clock":"b","uptime":1}']) {
    assert.equal(parseReading(text), undefined);
  }
});

test('spans are written in the largest unit of which they have at least one and a half', () => {
  assert.deepEqual([1500, 80 * SECOND, 119 * 60 * SECOND, 35 * HOUR, 2 * DAY].map(durationText), [
    '1.5 seconds',
    '80.0 seconds',
    '2.0 hours',
    '35.0 hours',
    '2.0 days',
  ]);
});
