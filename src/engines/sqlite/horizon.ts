import { type Meta, storedRows } from '../../store/meta.ts';
import type { Horizon } from '../../store/store.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import { PROMISE_EVERY, PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';
import type { Look } from './kept-state.ts';
import { begin } from './transaction.ts';

/** The time for timestamps, never before the last one. */
export function stampingNow(clock: StoreClock, { newest, epoch }: Pick<Meta, 'newest' | 'epoch'>): number {
  clock.inEpoch(epoch);
  return Math.max(clock.now(), newest);
}

/**
 * Determines the horizon by trying to acquire the write lock.
 * @param needed a moment for which the lock is not needed if the saved promise covers it: every writer reads that under the lock
 */
export function probeHorizon(
  probe: Connection,
  look: Look,
  clock: StoreClock,
  isLost: boolean,
  needed = Number.POSITIVE_INFINITY,
): Horizon {
  const { meta: seen } = look();
  if (!isLost && needed <= seen.settled) {
    const { settled } = seen;
    return { now: stampingNow(clock, seen), settled, standsUntil: settled + PROMISE_STANDS };
  }
  if (isLost) return whileOthersWrite(look, clock);
  try {
    using transaction = begin(probe.database, 'write');
    // Read under the lock, because the epoch may have changed.
    const { meta } = look();
    const now = stampingNow(clock, meta);
    const kept = promise(probe, clock, now, meta.settled);
    transaction.commit();
    return { now, settled: now, standsUntil: kept + PROMISE_STANDS };
  } catch (error) {
    if (!isBusy(error)) throw error;
    return whileOthersWrite(look, clock);
  }
}

/**
 * The horizon while another process writes: it uses its own clock, but assigns no timestamp before the last commit while a promise
 * is valid. If none is, its timestamps begin at the end of the last promise at the earliest (write/commit-timestamps.ts).
 */
function whileOthersWrite(look: Look, clock: StoreClock): Horizon {
  const { meta } = look();
  const standsUntil = meta.settled + PROMISE_STANDS;
  return { now: stampingNow(clock, meta), settled: Math.min(meta.newest, standsUntil), standsUntil };
}

/**
 * Saves the promised horizon from time to time, so that no process assigns a timestamp before it, not even with a clock that has
 * been set back in the meantime.
 *
 * @returns the saved promise
 */
function promise(probe: Connection, clock: StoreClock, now: number, kept: number): number {
  if (now < kept + PROMISE_EVERY) return kept;
  const put = probe.prepare(
    'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  for (const { name, value } of storedRows({ settled: now, clockReading: clock.toKeep() })) {
    put.run(name, value);
  }
  return now;
}
