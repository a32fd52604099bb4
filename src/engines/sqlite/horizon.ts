import { type Meta, storedRows } from '../../store/meta.ts';
import type { Horizon } from '../../store/store.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import { PROMISE_EVERY, PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';
import type { Connection } from './connection.ts';
import { isBusy } from './errors.ts';
import type { Look } from './kept-state.ts';
import { begin } from './transaction.ts';

/** The clock that stamps, never before the last timestamp. */
export function stampingNow(clock: StoreClock, { newest, epoch }: Pick<Meta, 'newest' | 'epoch'>): number {
  clock.inEpoch(epoch);
  return Math.max(clock.now(), newest);
}

/**
 * Finds up to where the store is settled by trying to acquire the write lock.
 * @param probe a connection that does nothing else, and waits for no lock
 * @param isLost whether nothing may be written to the file any more
 */
export function probeHorizon(probe: Connection, look: Look, clock: StoreClock, isLost: boolean): Horizon {
  if (isLost) return whileOthersWrite(look, clock);
  try {
    using transaction = begin(probe.database, 'write');
    // Read under the lock, or it might belong to an epoch that has ended meanwhile.
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
 * The running writer uses its own clock, but assigns no timestamp before the last commit while a promise is valid. If
 * none is, its timestamps begin at the earliest at the end of the last one (write/commit-timestamps.ts).
 */
function whileOthersWrite(look: Look, clock: StoreClock): Horizon {
  const { meta } = look();
  const standsUntil = meta.settled + PROMISE_STANDS;
  return { now: stampingNow(clock, meta), settled: Math.min(meta.newest, standsUntil), standsUntil };
}

/**
 * Stores from time to time up to where windows have been promised to be settled, so that no process assigns a
 * timestamp before it, not even on a clock that was set back in the meantime.
 * @returns the promise that the store keeps
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
