/**
 * The request limit of each key in a time window: requests are counted in this process or, if several processes serve the store,
 * borrowed from the store. This module must not know what is requested.
 */
import { isStoreFull, type PlatError, platError } from '../../errors/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import type { Loan, SharedState } from '../../store/shared.ts';
import type { RateLimit } from '../options.ts';

/** The remaining allowance of a key in its window. */
interface Allowance {
  readonly limit: RateLimit;
  readonly remaining: number;
  readonly exceeded: boolean;
  /** Seconds until the window ends. */
  readonly reset: number;
}

export interface RequestLimiter {
  /**
   * Counts one request.
   * @param now milliseconds of a monotonic clock
   * @throws PlatError `storeUnavailable`
   */
  countRequest(key: string, limit: RateLimit, now: number): Allowance | Promise<Allowance>;
  close(): Promise<void>;
}

/** Ignores a microsecond, because the sum of two times can exceed the window by a rounding error. */
const secondsTo = (end: number, now: number): number => Math.max(1, Math.ceil((end - now) / 1000 - 1e-6));

interface RateWindow {
  readonly ends: number;
  used: number;
}

/** The size in bytes of the window of a key. */
const WINDOW = 200;

/** Counts the requests of each key in one process, in windows that begin with the first request. */
export class RateLimiter implements RequestLimiter, SizedCache {
  readonly #windows = new Map<string, RateWindow>();

  constructor() {
    registerCache('windows of keys', this);
  }

  get use(): SizedCache['use'] {
    return { entries: this.#windows.size, bytes: this.#windows.size * WINDOW };
  }

  countRequest(key: string, limit: RateLimit, now: number): Allowance {
    let window = this.#windows.get(key);
    if (window === undefined || window.ends <= now) {
      window = { ends: now + limit.seconds * 1000, used: 0 };
      this.#windows.set(key, window);
      for (const [each, { ends }] of this.#windows) if (ends <= now) this.#windows.delete(each);
    }
    window.used++;
    const remaining = Math.max(0, limit.requests - window.used);
    return { limit, remaining, exceeded: window.used > limit.requests, reset: secondsTo(window.ends, now) };
  }

  async close(): Promise<void> {}
}

/** The error for a request that exceeds the allowance, with the seconds to wait. */
export function rateLimited({ limit, reset }: Allowance): PlatError {
  const facts = { limit: limit.requests, window: limit.seconds, seconds: reset };
  return platError('rateLimited', facts, { retryAfter: reset });
}

/** The headers of IETF draft-ietf-httpapi-ratelimit-headers. */
export function rateLimitHeaders({ limit, remaining, reset }: Allowance): Record<string, string> {
  return {
    'ratelimit-policy': `"requests";q=${limit.requests};w=${limit.seconds}`,
    ratelimit: `"requests";r=${remaining};t=${reset}`,
  };
}

/**
 * Milliseconds for which an unused loan is kept. During this time, other processes may reject requests although the loan is not
 * used up.
 */
const LOAN_LIFETIME = 2000;
/** Milliseconds for which a key that has used up its window is rejected before the store is queried again. */
const REFUSED = 500;

/** The size in bytes of the loan of a key. */
const LOAN = 300;

interface Borrowed extends Omit<Loan, 'milliseconds' | 'requests'> {
  requests: number;
  readonly lentAt: number;
  readonly ends: number;
}

/**
 * Enforces one limit in all processes of a store. The store lends each process parts of the key's remaining allowance,
 * large ones far from the limit and single requests near it. Most requests therefore query nothing, and all processes
 * together never exceed the limit.
 */
export class SharedRateLimiter implements RequestLimiter, SizedCache {
  readonly #shared: SharedState;
  readonly #timer: NodeJS.Timeout;
  readonly #borrowed = new Map<string, Borrowed>();
  readonly #borrowing = new Map<string, Promise<void>>();
  /** Counts while the store has no room for it: each process then counts by itself, but serves. */
  readonly #alone = new RateLimiter();

  constructor(shared: SharedState) {
    this.#shared = shared;
    registerCache('windows of keys', this);
    this.#timer = setInterval(
      () => void this.#giveBack(performance.now() - LOAN_LIFETIME),
      LOAN_LIFETIME,
    ).unref();
  }

  get use(): SizedCache['use'] {
    return { entries: this.#borrowed.size, bytes: this.#borrowed.size * LOAN };
  }

  async countRequest(key: string, limit: RateLimit, now: number): Promise<Allowance> {
    for (;;) {
      const borrowed = this.#borrowed.get(key);
      if (borrowed !== undefined && now < borrowed.ends) {
        const age = now - borrowed.lentAt;
        const isUsedUp = borrowed.requests === 0 && borrowed.remaining === 0;
        const isLeft = borrowed.requests > 0 && age < LOAN_LIFETIME;
        if (isLeft) borrowed.requests--;
        if (isLeft || (isUsedUp && age < REFUSED)) {
          const remaining = borrowed.remaining + borrowed.requests;
          return { limit, remaining, exceeded: !isLeft, reset: secondsTo(borrowed.ends, now) };
        }
      }
      try {
        await this.#borrow(key, limit, now);
      } catch (error) {
        if (!isStoreFull(error)) throw error;
        return this.#alone.countRequest(key, limit, now);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#giveBack(Number.POSITIVE_INFINITY);
  }

  /** Borrows an allowance from the store. Concurrent requests of one key share one query. */
  #borrow(key: string, limit: RateLimit, now: number): Promise<void> {
    const begin = () => this.#borrowNow(key, limit, now).finally(() => this.#borrowing.delete(key));
    return this.#borrowing.getOrInsertComputed(key, begin);
  }

  async #borrowNow(key: string, limit: RateLimit, now: number): Promise<void> {
    const { window = 0, requests: left = 0 } = this.#borrowed.get(key) ?? {};
    this.#borrowed.delete(key);
    const loan = await this.#shared.lendRequests({ key, limit, left: { window, requests: left } });
    const { milliseconds, ...rest } = loan;
    this.#borrowed.set(key, { ...rest, lentAt: now, ends: now + milliseconds });
  }

  /** Returns loans that were taken before a time. If this fails, the loans count as used until the window ends. */
  async #giveBack(before: number): Promise<void> {
    const returned = [];
    for (const [key, { window, requests, lentAt }] of this.#borrowed) {
      if (lentAt > before) continue;
      this.#borrowed.delete(key);
      if (requests > 0) returned.push({ key, window, requests });
    }
    if (returned.length > 0) await this.#shared.returnRequests(returned).catch(() => undefined);
  }
}
