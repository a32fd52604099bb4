/**
 * The `Date` of every answer. Clients begin their next window there, less a settle time of seconds, so it is a promise as the
 * end of a window is (I2): no later timestamp falls before it, even when the clock is set back. The date is therefore never
 * ahead of what the store has promised; while another process writes and the store cannot promise more, the date lags behind
 * the clock.
 */
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';

// All in milliseconds. How long before the end of a promise the next one is requested, while answers go on.
const RENEWED_BEFORE = 500;
/** How far the date may lag without a response waiting for a promise. */
const LAG = 5000;
/** How long a response waits otherwise, and in a store that has never made one; and how often it looks. */
const PATIENCE = 2000;
const FIRST_PATIENCE = 30_000;
const INTERVAL = 5;

export class PromisedDate {
  readonly #store: Pick<Store, 'now' | 'horizon'>;
  readonly #clock: Pick<Clock, 'sleep'>;
  #standsUntil = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #renewing: Promise<boolean> | undefined;

  constructor(store: Pick<Store, 'now' | 'horizon'>, clock: Pick<Clock, 'sleep'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Milliseconds since 1970. */
  async now(): Promise<number> {
    for (let waited = 0; ; waited += INTERVAL) {
      const now = await this.#store.now();
      if (this.promised(now) !== undefined) return now;
      // Whoever reads from the store reports what is wrong with it.
      if (!(await this.#renew())) return now;
      const lag = now - this.#standsUntil;
      if (lag <= 0) return now;
      if (lag <= LAG) return this.#standsUntil;
      const isFirst = this.#standsUntil <= PROMISE_STANDS;
      if (waited >= (isFirst ? FIRST_PATIENCE : PATIENCE)) return isFirst ? now : this.#standsUntil;
      await this.#clock.sleep(INTERVAL);
    }
  }

  /**
   * The date of a response whose request has just seen the store's clock.
   * @returns undefined while no promise covers it
   */
  promised(now: number): number | undefined {
    // In a new epoch the clock may have gone back.
    if (now < this.#last) this.#standsUntil = Number.NEGATIVE_INFINITY;
    this.#last = now;
    if (now > this.#standsUntil) return undefined;
    if (now > this.#standsUntil - RENEWED_BEFORE) void this.#renew();
    return now;
  }

  /** @returns whether the store answered */
  #renew(): Promise<boolean> {
    this.#renewing ??= this.#store
      .horizon()
      .then(
        ({ standsUntil }) => {
          this.#standsUntil = standsUntil;
          return true;
        },
        () => false,
      )
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }
}
