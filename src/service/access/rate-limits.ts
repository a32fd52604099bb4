import { type PlatError, platError } from '../../errors/index.ts';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';
import type { Loan, Shared } from '../../store/shared.ts';
import type { RateLimit } from '../options.ts';

/** Where a key stands in its window. */
export interface Allowance {
  readonly limit: RateLimit;
  readonly remaining: number;
  readonly exceeded: boolean;
  /** Seconds until the window ends. */
  readonly reset: number;
}

/** Counts what keys ask. */
export interface RequestLimiter {
  /**
   * Counts one request.
   * @param now milliseconds of a clock that only runs forward
   */
  take(key: string, limit: RateLimit, now: number): Allowance | Promise<Allowance>;
  close(): Promise<void>;
}

interface Window {
  readonly ends: number;
  used: number;
}

/** What a window of a key takes. */
const WINDOW = 200;

/** Counts the requests that one process gets, of each key, in windows that begin with its first request. */
export class RateLimiter implements RequestLimiter, Reported {
  readonly #windows = new Map<string, Window>();

  constructor() {
    reportCache('windows of keys', this);
  }

  get use(): Reported['use'] {
    return { entries: this.#windows.size, bytes: this.#windows.size * WINDOW };
  }

  take(key: string, limit: RateLimit, now: number): Allowance {
    let window = this.#windows.get(key);
    if (window === undefined || window.ends <= now) {
      window = { ends: now + limit.seconds * 1000, used: 0 };
      this.#windows.set(key, window);
      this.#forget(now);
    }
    window.used++;
    const reset = Math.max(1, Math.ceil((window.ends - now) / 1000));
    const remaining = Math.max(0, limit.requests - window.used);
    return { limit, remaining, exceeded: window.used > limit.requests, reset };
  }

  async close(): Promise<void> {}

  #forget(now: number): void {
    for (const [key, { ends }] of this.#windows) if (ends <= now) this.#windows.delete(key);
  }
}

/** The refusal of a request beyond the allowance, with the seconds to wait. */
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

/** How long a loan is kept that is not used, in milliseconds: so long others may be refused for its sake. */
const KEPT = 2000;
/** How long a key that has used up its window is refused before the store is asked again, in milliseconds. */
const REFUSED = 500;

/** What a loan of a key takes. */
const LOAN = 300;

interface Held extends Omit<Loan, 'milliseconds' | 'requests'> {
  requests: number;
  readonly lentAt: number;
  readonly ends: number;
}

/**
 * Holds one limit in all processes of a store. The store lends each process parts of what a key may still ask, large
 * ones far from the limit and single requests near to it; so most requests ask nobody, and what all processes let
 * through together never exceeds the limit.
 */
export class SharedLimiter implements RequestLimiter, Reported {
  readonly #shared: Shared;
  readonly #timer: NodeJS.Timeout;
  readonly #held = new Map<string, Held>();
  readonly #borrowing = new Map<string, Promise<void>>();

  constructor(shared: Shared) {
    this.#shared = shared;
    reportCache('windows of keys', this);
    this.#timer = setInterval(() => void this.#giveBack(performance.now() - KEPT), KEPT).unref();
  }

  get use(): Reported['use'] {
    return { entries: this.#held.size, bytes: this.#held.size * LOAN };
  }

  /** @throws PlatError `storeUnavailable` */
  async take(key: string, limit: RateLimit, now: number): Promise<Allowance> {
    for (;;) {
      const held = this.#held.get(key);
      if (held !== undefined && now < held.ends) {
        const age = now - held.lentAt;
        if (held.requests > 0 && age < KEPT) {
          held.requests--;
          return allowance(limit, held, false, now);
        }
        const isUsedUp = held.requests === 0 && held.remaining === 0;
        if (isUsedUp && age < REFUSED) return allowance(limit, held, true, now);
      }
      await this.#borrow(key, limit, now);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#giveBack(Number.POSITIVE_INFINITY);
  }

  /** Requests of one key that come at the same time borrow together. */
  #borrow(key: string, limit: RateLimit, now: number): Promise<void> {
    const running = this.#borrowing.get(key);
    if (running !== undefined) return running;
    const borrowing = this.#borrowNow(key, limit, now).finally(() => this.#borrowing.delete(key));
    this.#borrowing.set(key, borrowing);
    return borrowing;
  }

  async #borrowNow(key: string, limit: RateLimit, now: number): Promise<void> {
    const { window = 0, requests: left = 0 } = this.#held.get(key) ?? {};
    this.#held.delete(key);
    const loan = await this.#shared.lendRequests({ key, limit, left: { window, requests: left } });
    const { milliseconds, ...rest } = loan;
    this.#held.set(key, { ...rest, lentAt: now, ends: now + milliseconds });
  }

  /** Gives back what was lent before a moment. Where that fails, it counts as used until the window ends. */
  async #giveBack(before: number): Promise<void> {
    const returned = [];
    for (const [key, { window, requests, lentAt }] of this.#held) {
      if (lentAt > before) continue;
      this.#held.delete(key);
      if (requests > 0) returned.push({ key, window, requests });
    }
    if (returned.length > 0) await this.#shared.returnRequests(returned).catch(() => undefined);
  }
}

function allowance(limit: RateLimit, held: Held, exceeded: boolean, now: number): Allowance {
  const reset = Math.max(1, Math.ceil((held.ends - now) / 1000));
  return { limit, remaining: held.remaining + held.requests, exceeded, reset };
}
