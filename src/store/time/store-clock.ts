/**
 * The clock that sets a store's timestamps, as far as it can be trusted (clock-jump.ts). It never goes back within an
 * epoch.
 */
import { type Clock, steadyClock } from '../../shared/clock.ts';
import { type ClockTrust, JumpGuard, type StoredTime } from './clock-jump.ts';

/** The time information before a store exists. */
export const NOTHING_STORED: StoredTime = { reading: undefined, newest: 0 };

export interface StoreClock extends Clock {
  /** Like `now`, but may go back. */
  readonly raw: () => number;
  /** Milliseconds by which it was set ahead; `now` and `raw` exclude them. */
  readonly jump: () => number;
  /** Milliseconds by which it was set back. */
  readonly setBack: () => number;
  /** Trusts the clock, since timestamps ahead of it were moved back. */
  readonly trustAfterRestamp: () => void;
  /** Reports the time of another clock. */
  readonly confirm: (other: number) => void;
  /** The time for timestamps of a store in its current epoch, never before its last timestamp or promise. */
  readonly timeForTimestamps: (times: { readonly newest: number; readonly epoch: string }) => number;
  /** See `JumpGuard.inEpoch`. */
  readonly inEpoch: (epoch: string) => void;
  /** The reading that the store should save. */
  readonly readingToStore: () => string | undefined;
}

/**
 * @param held returns the time information of the store
 * @param isKnown whether any time information exists yet
 */
export function storeClock(
  { now, sleep }: Clock,
  { machine, allowClockJump = false }: ClockTrust,
  held: () => StoredTime,
  isKnown: () => boolean = () => true,
): StoreClock {
  const guard = machine && new JumpGuard(machine, held);
  let isAllowed = allowClockJump;
  const guarded = <T>(ask: (guard: JumpGuard, time: number) => T): T | undefined => {
    if (guard === undefined || !isKnown()) return undefined;
    if (isAllowed) guard.trust(now());
    isAllowed = false;
    return ask(guard, now());
  };
  const jump = (): number => guarded((known, time) => known.jump(time)) ?? 0;
  const raw = (): number => now() - jump();
  const steady = steadyClock({ now: raw, sleep });
  const inEpoch = (epoch: string): void => {
    steady.inEpoch(epoch);
    guard?.inEpoch(epoch);
  };
  return {
    ...{ now: steady.now, sleep, raw, jump, inEpoch },
    timeForTimestamps({ newest, epoch }) {
      inEpoch(epoch);
      return Math.max(steady.now(), newest);
    },
    setBack: () => guarded((known, time) => known.setBack(time)) ?? 0,
    trustAfterRestamp: () => guarded((known, time) => known.trust(time, 'restamped')),
    confirm: (other) => guarded((known, time) => known.confirm(time, other)),
    readingToStore: () => guarded((known, time) => known.readingToStore(time)),
  };
}
