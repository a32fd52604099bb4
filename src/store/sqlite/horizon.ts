import type { Horizon } from '../store.ts';
import { begin } from './begin.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './errors.ts';
import { readNewestMoment, writeSettled } from './meta.ts';

/** Milliseconds between two promises that are kept; less than the 5 s that a window waits (I2). */
const PROMISE_EVERY = 1000;

/** Tells up to where the store is settled, by a try to get the write lock. */
export class HorizonProbe {
  readonly #probe: Connection;
  readonly #read: Connection;
  readonly #clock: () => number;
  #promised = 0;

  constructor(path: string, read: Connection, clock: () => number) {
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
    return Math.max(this.#clock(), this.#newest());
  }

  horizon(): Horizon {
    const now = this.now();
    const { database } = this.#probe;
    try {
      using transaction = begin(database, 'write');
      this.#promise(now);
      transaction.commit();
      return { now, settled: now };
    } catch (error) {
      if (!isBusy(error)) throw error;
      // The writer at work stamps with its own clock, but never before what is committed.
      return { now, settled: this.#newest() };
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
    if (settled < this.#promised + PROMISE_EVERY) return;
    writeSettled(this.#probe.database, settled);
    this.#promised = settled;
  }

  #newest(): number {
    return readNewestMoment(this.#read);
  }
}
