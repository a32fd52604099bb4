import type { Clock } from '../../src/shared/clock.ts';

/** A clock that stands still until a test sets it, in either direction. */
export interface TestClock extends Clock {
  /** @param moment an ISO text */
  set(moment: string): void;
  advance(milliseconds: number): void;
  /** The time in the form of timestamps. */
  text(): string;
}

export const SECOND = 1000;
export const DAY = 86_400 * SECOND;

/** A sleep on this clock returns at once, but advances the clock. */
export function testClock(moment = '2026-06-01T12:00:00.500Z'): TestClock {
  let now = Date.parse(moment);
  return {
    now: () => now,
    sleep: async (milliseconds) => {
      now += milliseconds;
    },
    set: (text) => {
      now = Date.parse(text);
    },
    advance: (milliseconds) => {
      now += milliseconds;
    },
    text: () => new Date(now).toISOString().replace('.000Z', 'Z'),
  };
}
