/** A clock that was set ahead is told from one by which time has passed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClockReading, JumpGuard, parseReading, spanText } from '../../src/store/clock-jump.ts';
import { stampClock } from '../../src/store/postgres/writing/stamp-clock.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';

const HOUR = 3600 * SECOND;
const NOON = Date.parse('2026-06-01T12:00:00Z');

/** A machine on which time passes, and a store that keeps what its writers saw. */
function world() {
  const state = { boot: 'first', clock: NOON, uptime: 50 * HOUR, elapsed: 0, looks: 0 };
  let kept: ClockReading | undefined;
  return {
    state,
    pass(milliseconds: number): void {
      state.clock += milliseconds;
      state.uptime += milliseconds;
      state.elapsed += milliseconds;
    },
    /** A process that looks at the clock, and writes if it may. */
    process() {
      const uptime = (): number => {
        state.looks++;
        return state.uptime;
      };
      const guard = new JumpGuard({ boot: state.boot, uptime, elapsed: () => state.elapsed }, () => kept);
      return {
        write(): number {
          const jump = guard.jump(state.clock);
          const reading = guard.toKeep(state.clock);
          if (reading !== undefined) kept = parseReading(reading);
          return jump;
        },
        jump: () => guard.jump(state.clock),
        allow: () => guard.allow(state.clock),
      };
    },
  };
}

test('time that passes is no jump, however long nobody wrote', () => {
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

test('a clock that is set ahead is noticed by who runs and by who begins, until it is right again', () => {
  for (const ahead of [2 * DAY, 20 * 365 * DAY]) {
    const at = world();
    const running = at.process();
    running.write();
    at.pass(HOUR);
    at.state.clock += ahead;
    assert.equal(at.process().write(), ahead);
    assert.equal(running.write(), ahead);
    at.pass(HOUR);
    assert.equal(at.process().write(), ahead, 'nothing was kept of it');
    at.state.clock -= ahead;
    assert.equal(at.process().write(), 0);
    assert.equal(running.write(), 0);
  }
});

test('a clock that goes as the process does costs no look at the machine; one that slept is looked at', () => {
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

test('what was told once is known to all', () => {
  const at = world();
  const running = at.process();
  running.write();
  at.state.clock += 2 * DAY;
  const told = at.process();
  told.allow();
  assert.equal(told.write(), 0);
  assert.equal(running.write(), 0);
  assert.equal(at.process().write(), 0);
  // The next jump is another one.
  at.state.clock += 3 * DAY;
  assert.equal(running.write(), 3 * DAY);
});

test('a night that a paused machine missed is no jump, and a clock that is set back is none', () => {
  const at = world();
  const running = at.process();
  running.write();
  at.state.clock += 12 * HOUR;
  assert.equal(running.write(), 0);
  at.state.clock -= 400 * DAY;
  assert.equal(running.write(), 0);
  assert.equal(at.process().write(), 0);
});

test('a server whose clock is ahead of that of this machine is not believed, unless that is told', () => {
  const machine = { boot: 'here', uptime: () => 0, elapsed: () => 0 };
  for (const [server, allowClockJump, jump] of [
    [NOON + 2 * DAY, false, 2 * DAY],
    [NOON + 2 * DAY, true, 0],
    [NOON + HOUR, false, 0],
    [NOON - 2 * DAY, false, 0],
  ] as const) {
    const clock = stampClock(undefined, { machine, allowClockJump }, () => NOON);
    clock.note(server, '', undefined);
    assert.equal(clock.jump(), jump);
    assert.equal(clock.now(), server - jump);
    assert.equal(clock.given(), jump === 0 ? null : NOON);
  }
});

test('a server whose clock jumped is noticed by what the store keeps of it', () => {
  const own = testClock('2026-06-01T12:00:00Z');
  const machine = { boot: 'here', uptime: () => HOUR, elapsed: () => 0 };
  own.advance(2 * DAY);
  const clock = stampClock(undefined, { machine }, own.now);
  clock.note(own.now(), '', { boot: 'here', clock: NOON, uptime: HOUR });
  assert.equal(clock.jump(), 2 * DAY);
});

test('what cannot be read counts as nothing', () => {
  for (const text of [undefined, '', 'null', '[]', '{"boot":1}', '{"boot":"a","clock":"b","uptime":1}']) {
    assert.equal(parseReading(text), undefined);
  }
});

test('spans are told in the largest unit of which there is one and a half', () => {
  assert.deepEqual([1500, 80 * SECOND, 119 * 60 * SECOND, 35 * HOUR, 2 * DAY].map(spanText), [
    '1.5 seconds',
    '80.0 seconds',
    '2.0 hours',
    '35.0 hours',
    '2.0 days',
  ]);
});
