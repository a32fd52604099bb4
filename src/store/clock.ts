import { setTimeout } from 'node:timers/promises';

/** Time and waiting, passed in so that a test can drive them. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends early when the signal comes. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The longest wait of a timer, in milliseconds; a longer one would end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A sleep of any length, of as many waits of a timer as it takes. */
export const sleepBy =
  (timer: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>): Clock['sleep'] =>
  async (milliseconds, signal) => {
    for (let left = milliseconds; left > 0 && !signal?.aborted; left -= LONGEST_TIMER) {
      await timer(Math.min(left, LONGEST_TIMER), signal).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
    }
  };

export const systemClock: Clock = {
  now: Date.now,
  sleep: sleepBy((milliseconds, signal) => setTimeout(milliseconds, undefined, { signal })),
};

/** The same clock, but one that never goes back while the process runs, also when it is set back. */
export function steadyClock({ now, sleep }: Clock): Clock {
  let highest = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      highest = Math.max(highest, now());
      return highest;
    },
    sleep,
  };
}
