/**
 * The horizon (I2) of a store whose engine has a lock that a reader can try to acquire: if no process writes, the horizon is now.
 * It knows no engine. A server that computes the horizon in one round trip follows the same rule.
 */
import type { Meta, MetaChange } from '../state/meta.ts';
import type { Horizon } from '../store.ts';
import { PROMISE_INTERVAL, PROMISE_VALIDITY } from '../write/commit-timestamps.ts';
import type { StoreClock } from './store-clock.ts';

export interface HorizonSource {
  readonly clock: StoreClock;
  /** Reads what the store records about time. */
  readonly times: () => Pick<Meta, 'newest' | 'settled' | 'epoch'>;
  /** Runs `work` under the write lock and commits, without waiting; undefined if another process has the lock. */
  tryLock<T>(work: (write: (change: MetaChange) => void) => T): T | undefined;
}

/**
 * @param needed a moment that the horizon must cover: if the saved promise covers it, the lock is not needed, since every writer
 * reads the promise under the lock
 */
export function horizonOf(
  { clock, times, tryLock }: HorizonSource,
  needed = Number.POSITIVE_INFINITY,
): Horizon {
  const seen = times();
  const { settled } = seen;
  if (needed <= settled) {
    return { now: clock.timeForTimestamps(seen), settled, standsUntil: settled + PROMISE_VALIDITY };
  }
  const free = tryLock((write): Horizon => {
    // The epoch may have changed before this process acquired the lock.
    const held = times();
    const now = clock.timeForTimestamps(held);
    // The promise is saved from time to time, so that no process assigns a timestamp before it, not even with a clock that was set
    // back.
    const isDue = now >= held.settled + PROMISE_INTERVAL;
    if (isDue) write({ settled: now, clockReading: clock.readingToStore() });
    return { now, settled: now, standsUntil: (isDue ? now : held.settled) + PROMISE_VALIDITY };
  });
  return free ?? horizonWhileOthersWrite(times(), clock);
}

/**
 * The horizon while another process writes: that process uses its own clock, but assigns no timestamp before the last commit while
 * a promise is valid. If no promise is valid, its timestamps begin at the end of the last promise at the earliest
 * (write/commit-timestamps.ts).
 */
function horizonWhileOthersWrite(held: ReturnType<HorizonSource['times']>, clock: StoreClock): Horizon {
  const standsUntil = held.settled + PROMISE_VALIDITY;
  return { now: clock.timeForTimestamps(held), settled: Math.min(held.newest, standsUntil), standsUntil };
}
