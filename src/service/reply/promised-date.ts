/**
 * The `Date` of every response. Clients begin their next update window a few seconds before it, so it is a promise like the end of
 * a window (I2): no later commit uses a timestamp before it, even if the clock is set back. The date is therefore never ahead of
 * the horizon that the store has saved. While another process writes and the horizon cannot advance, the date lags behind the
 * clock.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Store } from '../../store/store.ts';
import { PROMISE_VALIDITY } from '../../store/write/commit-timestamps.ts';

// All times are in milliseconds. How long before the end of a promise the next one is requested, while responses are sent:
const RENEWED_BEFORE = 500;
/** How far the date may lag behind the clock before a response waits for a new promise. */
const MAX_LAG = 5000;
/** How long a response then waits, how long it waits in a store that has never saved a promise, and how often it checks. */
const MAX_WAIT = 2000;
const FIRST_MAX_WAIT = 30_000;
const INTERVAL = 5;

export class PromisedDate {
  readonly #store: Pick<Store, 'now' | 'horizon'>;
  readonly #clock: Pick<Clock, 'sleep'>;
  #standsUntil = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #renewing: Promise<boolean> | undefined;
  #waiting: Promise<void> | undefined;
  /** Whether a wait has ended without a new promise. No response waits again until there is one. */
  #isInVain = false;

  constructor(store: Pick<Store, 'now' | 'horizon'>, clock: Pick<Clock, 'sleep'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The date of a response now, in milliseconds since 1970. */
  async now(): Promise<number> {
    const now = await this.#store.now();
    if (this.promised(now) !== undefined) return now;
    // Problems of the store are reported by the requests that read from it.
    if (!(await this.#renew())) return now;
    if (now - this.#standsUntil <= MAX_LAG) return Math.min(now, this.#standsUntil);
    const isFirst = this.#standsUntil <= PROMISE_VALIDITY;
    const renewed = this.#awaitNext(isFirst ? FIRST_MAX_WAIT : MAX_WAIT);
    // A writer that has delayed one response for this long would delay the others as well.
    if (isFirst || !this.#isInVain) await renewed;
    const later = await this.#store.now();
    return (
      this.promised(later) ?? (isFirst && this.#standsUntil <= PROMISE_VALIDITY ? later : this.#standsUntil)
    );
  }

  /** Requests promises until the date no longer lags, for all responses together. */
  #awaitNext(patience: number): Promise<void> {
    const wait = async (): Promise<void> => {
      for (let waited = 0; waited < patience; waited += INTERVAL) {
        await this.#clock.sleep(INTERVAL);
        if (!(await this.#renew()) || (await this.#store.now()) - this.#standsUntil <= MAX_LAG) return;
      }
      this.#isInVain = true;
    };
    this.#waiting ??= wait()
      .catch(() => undefined)
      .finally(() => {
        this.#waiting = undefined;
      });
    return this.#waiting;
  }

  /**
   * The date of a response to a request that has just read the store's clock.
   *
   * @returns undefined if no promise covers it
   */
  promised(now: number): number | undefined {
    // The clock may have been set back with a new epoch.
    if (now < this.#last) this.#standsUntil = Number.NEGATIVE_INFINITY;
    this.#last = now;
    if (now > this.#standsUntil) return undefined;
    if (now > this.#standsUntil - RENEWED_BEFORE) void this.#renew();
    return now;
  }

  /** A date that the last promise covers, for a response that must not wait for the store; undefined if there is none. */
  covered(): number | undefined {
    const date = Math.min(this.#last, this.#standsUntil);
    return date > 0 ? date : undefined;
  }

  /** @returns whether the store responded */
  #renew(): Promise<boolean> {
    this.#renewing ??= this.#store
      .horizon()
      .then(
        ({ standsUntil }) => {
          if (standsUntil !== this.#standsUntil) this.#isInVain = false;
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
