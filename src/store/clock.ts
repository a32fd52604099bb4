import { setTimeout } from 'node:timers/promises';

/** Time and waiting, passed in so that a test can drive them. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends early when the signal comes. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * The longest wait of one timer, in milliseconds. Timers stand still while a machine sleeps, and know nothing of a clock
 * that is set: who waits for a moment looks at the clock as often as this.
 */
export const LONGEST_TIMER = 5 * 60_000;

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

/**
 * Waits for a moment with a look at the clock every few minutes, so that a clock that is set, either way, moves the wait
 * with it.
 * @param left milliseconds that are left, as they are now
 */
export async function sleepUntil(
  { sleep }: Pick<Clock, 'sleep'>,
  left: () => number,
  signal?: AbortSignal,
): Promise<void> {
  for (let wait = left(); wait > 0 && !signal?.aborted; wait = left()) {
    await sleep(Math.min(wait, LONGEST_TIMER), signal);
  }
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: sleepBy((milliseconds, signal) => setTimeout(milliseconds, undefined, { signal })),
};

/** A clock that never goes back within an epoch of its store, also when it is set back. */
export interface SteadyClock extends Clock {
  /** What the clock says that it is made of. */
  readonly raw: () => number;
  /** To be told the epoch of the store: in another one, what was said in the one before counts no more. */
  readonly inEpoch: (epoch: string) => void;
}

export function steadyClock({ now, sleep }: Clock): SteadyClock {
  let highest = Number.NEGATIVE_INFINITY;
  let known: string | undefined;
  return {
    raw: now,
    inEpoch: (epoch) => {
      if (known !== undefined && known !== epoch) highest = Number.NEGATIVE_INFINITY;
      known = epoch;
    },
    now: () => {
      highest = Math.max(highest, now());
      return highest;
    },
    sleep,
  };
}
