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

/** The moment at which the clock of most tests starts. */
const USUAL = '2026-06-01T12:00:00.500Z';

/** A sleep on this clock returns at once, but advances the clock. */
export function testClock(moment = USUAL): TestClock {
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

/**
 * When an empty store that tests copy was last opened: at the usual moment, so that no copy has to begin a day and to compact its
 * changes, or else only at its creation, which is before the time of all tests, since timestamps never go backwards.
 */
export type Prepared = 'created' | 'opened at the usual moment';

/** @param machine what a store knows about its machine: if it is given, the store keeps readings of the clock from its first opening on */
export const preparedFor = (clock: Clock, machine: unknown): Prepared =>
  machine === undefined && clock.now() === Date.parse(USUAL) ? 'opened at the usual moment' : 'created';

/** Creates a store to be copied. @param open opens it with a clock, and creates it if it does not exist */
export async function prepareStore(
  prepared: Prepared,
  open: (clock: Clock) => Promise<{ close(): Promise<void> }>,
): Promise<void> {
  await (await open(testClock('2020-01-01T00:00:00Z'))).close();
  if (prepared === 'opened at the usual moment') await (await open(testClock())).close();
}
