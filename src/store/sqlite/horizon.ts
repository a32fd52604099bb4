import type { Horizon } from '../store.ts';
import { begin } from './begin.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './errors.ts';
import { readTimes, writeClockReading, writeSettled } from './meta.ts';
import type { StoreClock } from './store-clock.ts';

/** Milliseconds between two promises that are kept; less than the 5 s that a window waits (I2). */
const PROMISE_EVERY = 1000;

/** Tells up to where the store is settled, by a try to get the write lock. */
export class HorizonProbe {
  readonly #probe: Connection;
  readonly #read: Connection;
  readonly #clock: StoreClock;
  readonly #isLost: () => boolean;
  #promised = 0;

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
    const { newest, epoch } = readTimes(this.#read);
    this.#clock.inEpoch(epoch);
    return Math.max(this.#clock.now(), newest);
  }

  horizon(): Horizon {
    const { database } = this.#probe;
    if (this.#isLost()) return { now: this.now(), settled: readTimes(this.#read).newest };
    try {
      using transaction = begin(database, 'write');
      // Under the lock, or it might be of an epoch that has ended meanwhile.
      const now = this.now();
      this.#promise(now);
      transaction.commit();
      return { now, settled: now };
    } catch (error) {
      if (!isBusy(error)) throw error;
      // The writer at work stamps with its own clock, but never before what is committed.
      return { now: this.now(), settled: readTimes(this.#read).newest };
    }
  }

  close(): void {
    this.#probe.close();
  }

  /**
   * Keeps, once in a while, up to where windows were called settled, so that no process stamps before it, not even
   * on a clock that was set back meanwhile.
   */
  #promise(settled: number): void {
    // What was promised in an epoch before counts no more.
    if (settled >= this.#promised && settled < this.#promised + PROMISE_EVERY) return;
    writeSettled(this.#probe.database, settled);
    const reading = this.#clock.toKeep();
    if (reading !== undefined) writeClockReading(this.#probe.database, reading);
    this.#promised = settled;
  }
}
