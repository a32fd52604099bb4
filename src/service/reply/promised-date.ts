/**
 * The moment that answers tell in their `Date`. Clients begin their next window there, less a settle time of seconds, so
 * it is a promise as the end of a window is (I2): no later timestamp falls before it, also when the clock is set back. So
 * no moment is told but while a promise stands that the store keeps; where somebody else writes, and it cannot keep one,
 * the moment that is told lags behind the clock until it can.
 */
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { PROMISE_STANDS } from '../../store/write/commit-timestamps.ts';

/** Milliseconds before the end of a promise at which another one is asked for, while answers go on. */
const RENEWED_BEFORE = 500;

/** Milliseconds by which the moment may lag without an answer waiting for a promise. */
const LAG = 5000;
/** How long an answer waits otherwise, and in a store that never kept one; and how often it looks. In milliseconds. */
const PATIENCE = 2000;
const FIRST_PATIENCE = 30_000;
const INTERVAL = 5;

export class ToldMoment {
  readonly #store: Pick<Store, 'now' | 'horizon'>;
  readonly #clock: Pick<Clock, 'sleep'>;
  #standsUntil = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | undefined;

  constructor(store: Pick<Store, 'now' | 'horizon'>, clock: Pick<Clock, 'sleep'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Milliseconds since 1970. */
  async now(): Promise<number> {
    for (let waited = 0; ; waited += INTERVAL) {
      const now = await this.#store.now();
      // In a new epoch it may have gone back.
      if (now < this.#last) this.#standsUntil = Number.NEGATIVE_INFINITY;
      this.#last = now;
      if (now <= this.#standsUntil) {
        if (now > this.#standsUntil - RENEWED_BEFORE) void this.#ask();
        return now;
      }
      // Whoever needs the store for more than a moment tells what is the matter with it.
      if (!(await this.#ask())) return now;
      const lag = now - this.#standsUntil;
      if (lag <= 0) return now;
      if (lag <= LAG) return this.#standsUntil;
      const isFirst = this.#standsUntil <= PROMISE_STANDS;
      if (waited >= (isFirst ? FIRST_PATIENCE : PATIENCE)) return isFirst ? now : this.#standsUntil;
      await this.#clock.sleep(INTERVAL);
    }
  }

  /** @returns whether the store answered */
  #ask(): Promise<boolean> {
    this.#asking ??= this.#store
      .horizon()
      .then(
        ({ standsUntil }) => {
          this.#standsUntil = standsUntil;
          return true;
        },
        () => false,
      )
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
