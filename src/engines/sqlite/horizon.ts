import type { Meta } from '../../store/meta.ts';
import type { Horizon } from '../../store/store.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import { PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';
import { begin } from './begin.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './errors.ts';
import { readTimes, writeMeta } from './meta.ts';

/** Milliseconds after which another promise is kept, while the one before still stands. */
const PROMISE_EVERY = PROMISE_STANDS / 2;

/** Where the store and its clock stand in time. */
interface Times extends Pick<Meta, 'newest' | 'settled'> {
  readonly now: number;
}

/** Tells up to where the store is settled, by a try to get the write lock. */
export class HorizonProbe {
  readonly #probe: Connection;
  readonly #read: Connection;
  readonly #clock: StoreClock;
  readonly #isLost: () => boolean;

  /** @param isLost whether nothing may be written to the file any more */
  constructor(path: string, read: Connection, clock: StoreClock, isLost: () => boolean) {
    this.#isLost = isLost;
    this.#read = read;
    this.#clock = clock;
    using taken = new DisposableStack();
    this.#probe = connect({ path, readOnly: false, busyTimeout: 0, cacheMegabytes: 1 });
    taken.defer(() => this.#probe.close());
    this.#probe.database.exec('PRAGMA synchronous = NORMAL');
    taken.move(); // `close` closes it
  }

  /** The clock that stamps; never before the last stamp. */
  now(): number {
    return this.#times().now;
  }

  horizon(): Horizon {
    const { database } = this.#probe;
    if (this.#isLost()) return whileOthersWrite(this.#times());
    try {
      using transaction = begin(database, 'write');
      // Under the lock, or it might be of an epoch that has ended meanwhile.
      const { now, settled } = this.#times();
      const kept = this.#promise(now, settled);
      transaction.commit();
      return { now, settled: now, standsUntil: kept + PROMISE_STANDS };
    } catch (error) {
      if (!isBusy(error)) throw error;
      return whileOthersWrite(this.#times());
    }
  }

  #times(): Times {
    const times = readTimes(this.#read);
    this.#clock.inEpoch(times.epoch);
    const { newest, settled } = times;
    return { newest, settled, now: Math.max(this.#clock.now(), newest) };
  }

  close(): void {
    this.#probe.close();
  }

  /**
   * Keeps, once in a while, up to where windows were called settled, so that no process stamps before it, not even
   * on a clock that was set back meanwhile.
   * @returns what the store keeps
   */
  #promise(now: number, kept: number): number {
    if (now < kept + PROMISE_EVERY) return kept;
    writeMeta(this.#probe.database, { settled: now, clockReading: this.#clock.toKeep() });
    return now;
  }
}

/**
 * The writer at work stamps with its own clock, but never before what is committed while a promise stands; where none
 * does, as early as the end of the last one (write/commit-timestamps.ts).
 */
function whileOthersWrite({ now, newest, settled }: Times): Horizon {
  const standsUntil = settled + PROMISE_STANDS;
  return { now, settled: Math.min(newest, standsUntil), standsUntil };
}
