import { setTimeout } from 'node:timers/promises';

/** Time and waiting, passed in so that a test can control them. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Ends early when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * The longest wait of one timer, in milliseconds. Timers pause while a machine sleeps, and ignore changes of the clock,
 * so code that waits for a moment checks the clock at least this often.
 */
export const LONGEST_TIMER = 5 * 60_000;

/** A sleep of any length, made of as many timers as necessary. */
export const makeSleep =
  (timer: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>): Clock['sleep'] =>
  async (milliseconds, signal) => {
    for (let left = milliseconds; left > 0 && !signal?.aborted; left -= LONGEST_TIMER) {
      await timer(Math.min(left, LONGEST_TIMER), signal).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
    }
  };

/**
 * Waits for a moment and checks the clock every few minutes, so that setting the clock, either way, moves the wait with it.
 * @param left returns the milliseconds that are left now
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
  sleep: makeSleep((milliseconds, signal) => setTimeout(milliseconds, undefined, { signal })),
};

/** A clock that never goes back within an epoch of its store, even when the system clock is set back. */
interface SteadyClock extends Clock {
  /** The underlying clock. */
  readonly raw: () => number;
  /** Sets the epoch of the store. In a new epoch, the times of the previous one no longer count. */
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

const SPANS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1000],
] as const;

/** Formats a duration in the largest unit of which it has at least one and a half. */
export function durationText(milliseconds: number): string {
  const [unit, size] = SPANS.find(([, length]) => milliseconds >= 1.5 * length) ?? ['seconds', 1000];
  return `${(milliseconds / size).toFixed(1)} ${unit}`;
}
