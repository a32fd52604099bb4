import { setTimeout } from 'node:timers/promises';

/** Time and waiting, passed in so that a test can drive them. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends early when the signal comes. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) =>
    setTimeout(milliseconds, undefined, { signal }).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
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
