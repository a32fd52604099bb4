import { type Meta, storedRows } from '../../store/meta.ts';
import type { Horizon } from '../../store/store.ts';
import type { StoreClock } from '../../store/store-clock.ts';
import { PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './errors.ts';
import type { KeptState } from './kept-state.ts';
import { begin } from './transaction.ts';

/** Milliseconds after which the store keeps another promise, while the last one still stands. */
const PROMISE_EVERY = PROMISE_STANDS / 2;

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
    return this.at(this.#state.look().meta);
  }

  /** The same, where it was just read what the store keeps of its time. */
  at({ newest, epoch }: Pick<Meta, 'newest' | 'epoch'>): number {
    this.#clock.inEpoch(epoch);
    return Math.max(this.#clock.now(), newest);
  }

  horizon(): Horizon {
    const { database } = this.#probe;
    if (this.#isLost()) return this.#whileOthersWrite();
    try {
      using transaction = begin(database, 'write');
      // Read under the lock, or it might belong to an epoch that has ended meanwhile.
      const { meta } = this.#state.look();
      const now = this.at(meta);
      const kept = this.#promise(now, meta.settled);
      transaction.commit();
      return { now, settled: now, standsUntil: kept + PROMISE_STANDS };
    } catch (error) {
      if (!isBusy(error)) throw error;
      return this.#whileOthersWrite();
    }
  }

  /**
   * The running writer uses its own clock, but assigns no timestamp before the last commit while a promise is valid. If
   * none is, its timestamps begin at the earliest at the end of the last one (write/commit-timestamps.ts).
   */
  #whileOthersWrite(): Horizon {
    const { meta } = this.#state.look();
    const standsUntil = meta.settled + PROMISE_STANDS;
    return { now: this.at(meta), settled: Math.min(meta.newest, standsUntil), standsUntil };
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
