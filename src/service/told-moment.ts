/**
 * The moment that answers tell in their `Date`. Clients begin their next window there, less a settle time of seconds, so
 * it is a promise as the end of a window is (I2): no later timestamp falls before it, also when the clock is set back.
 */
import type { Store } from '../store/store.ts';

/**
 * Milliseconds within which what was told is kept by the store. With those that the store itself takes its time for, less
 * than the 5 s that clients leave (specification 4.4).
 */
const KEPT_WITHIN = 2000;

export class ToldMoment {
  readonly #store: Pick<Store, 'now' | 'horizon'>;
  #kept = Number.NEGATIVE_INFINITY;
  #isKeeping = false;

  constructor(store: Pick<Store, 'now' | 'horizon'>) {
    this.#store = store;
  }

  /** Milliseconds since 1970. No answer waits until it is kept. */
  async now(): Promise<number> {
    const now = await this.#store.now();
    // In a new epoch it may have gone back.
    const isKept = now >= this.#kept && now < this.#kept + KEPT_WITHIN;
    if (!isKept && !this.#isKeeping) void this.#keep();
    return now;
  }

  /** Where somebody else writes, or the store cannot be written to, it is not kept: the next answer tries again. */
  async #keep(): Promise<void> {
    this.#isKeeping = true;
    try {
      const { now, settled } = await this.#store.horizon();
      if (settled >= now) this.#kept = now;
    } catch {
      // Whoever needs the store for more than a moment tells what is the matter with it.
    } finally {
      this.#isKeeping = false;
    }
  }
}
