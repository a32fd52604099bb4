import { storedRows } from '../../store/meta.ts';
import type { Horizon } from '../../store/store.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import { PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';
import { begin } from './begin.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './errors.ts';
import type { KeptState, Times } from './kept-state.ts';

/** Milliseconds after which the store keeps another promise, while the last one still stands. */
const PROMISE_EVERY = PROMISE_STANDS / 2;

/** The time state of the store and its clock. */
interface Moment extends Pick<Times, 'newest' | 'settled'> {
  readonly now: number;
}

/** Finds up to where the store is settled by trying to acquire the write lock. */
export class HorizonProbe {
  readonly #probe: Connection;
  readonly #state: KeptState;
  readonly #clock: StoreClock;
  readonly #isLost: () => boolean;

  /** @param isLost whether nothing may be written to the file any more */
  constructor(path: string, state: KeptState, clock: StoreClock, isLost: () => boolean) {
    this.#isLost = isLost;
    this.#state = state;
    this.#clock = clock;
    using taken = new DisposableStack();
    this.#probe = connect({ path, readOnly: false, busyTimeout: 0, cacheMegabytes: 1 });
    taken.defer(() => this.#probe.close());
    this.#probe.database.exec('PRAGMA synchronous = NORMAL');
    taken.move(); // `close` closes it
  }

  /** The clock that stamps, never before the last timestamp. */
  now(): number {
    return this.at(this.#state.look().times);
  }

  /** The same, where it was just read what the store keeps of its time. */
  at({ newest, epoch }: Times): number {
    this.#clock.inEpoch(epoch);
    return Math.max(this.#clock.now(), newest);
  }

  horizon(): Horizon {
    const { database } = this.#probe;
    if (this.#isLost()) return whileOthersWrite(this.#times());
    try {
      using transaction = begin(database, 'write');
      // Read under the lock, or it might belong to an epoch that has ended meanwhile.
      const { now, settled } = this.#times();
      const kept = this.#promise(now, settled);
      transaction.commit();
      return { now, settled: now, standsUntil: kept + PROMISE_STANDS };
    } catch (error) {
      if (!isBusy(error)) throw error;
      return whileOthersWrite(this.#times());
    }
  }

  #times(): Moment {
    const { times } = this.#state.look();
    return { newest: times.newest, settled: times.settled, now: this.at(times) };
  }

  close(): void {
    this.#probe.close();
  }

  /**
   * Stores from time to time up to where windows have been promised to be settled, so that no process assigns a
   * timestamp before it, not even on a clock that was set back in the meantime.
   * @returns the promise that the store keeps
   */
  #promise(now: number, kept: number): number {
    if (now < kept + PROMISE_EVERY) return kept;
    const put = this.#probe.prepare(
      'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
    for (const { name, value } of storedRows({ settled: now, clockReading: this.#clock.toKeep() })) {
      put.run(name, value);
    }
    return now;
  }
}

/**
 * The running writer uses its own clock, but assigns no timestamp before the last commit while a promise is valid. If
 * none is, its timestamps begin at the earliest at the end of the last one (write/commit-timestamps.ts).
 */
function whileOthersWrite({ now, newest, settled }: Moment): Horizon {
  const standsUntil = settled + PROMISE_STANDS;
  return { now, settled: Math.min(newest, standsUntil), standsUntil };
}
