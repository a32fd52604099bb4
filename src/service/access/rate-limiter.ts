import { type PlatError, platError } from '../../errors/index.ts';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';
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
