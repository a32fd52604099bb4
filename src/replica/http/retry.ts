/** The retry loop and the waits between attempts. It does not know what is attempted. */
import type { Clock } from '../../shared/clock.ts';

/**
 * Repeats work until it succeeds.
 * @param waitAfterFailure milliseconds until the next attempt, after the n-th failure in a row (from 1); it throws if the work
 *   must not be repeated
 */
export async function withRetries<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: (attempt: number) => Promise<T>,
  waitAfterFailure: (error: unknown, failures: number) => number,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work(failures);
    } catch (error) {
      await clock.sleep(waitAfterFailure(error, failures), signal);
    }
  }
}

/** Waits that double from failure to failure, in milliseconds. */
interface DelayOptions {
  /** The maximum of the first wait. */
  readonly base: number;
  readonly longest: number;
}

/** The waits between attempts at one request. */
export interface BackoffOptions extends DelayOptions {
  /** Attempts at one request before it is given up. */
  readonly attempts: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = { base: 1000, longest: 60_000, attempts: 8 };

/** For a source that has never responded, until a connection is accepted: its address may be wrong, and a user is waiting. */
export const FIRST_CONTACT: BackoffOptions = { base: 1000, longest: 4000, attempts: 4 };

/** For a command that stores nothing and that a user waits for, who can run it again. */
export const SHORT_BACKOFF: BackoffOptions = { base: 1000, longest: 8000, attempts: 5 };

const doubled = (failures: number, { base, longest }: DelayOptions): number =>
  Math.min(longest, base * 2 ** Math.min(failures - 1, 20));

/**
 * Milliseconds to wait after the n-th failure (from 1) of a request: full jitter in addition to the wait that the source requested.
 * @param random from 0 to 1
 */
export function waitAfter(
  failures: number,
  floor: number | undefined,
  backoff: DelayOptions,
  random: () => number,
): number {
  return (floor ?? 0) + Math.round(random() * doubled(failures, backoff));
}

/** For transient failures: a store or a source that is unreachable or busy. */
export const SHORT_DELAY: DelayOptions = { base: 1000, longest: 30_000 };
/** For a step that failed although its requests were repeated. */
export const LONG_DELAY: DelayOptions = { base: 15_000, longest: 300_000 };
/** For problems that a person has to fix: frequent requests could make them worse. */
export const LONGEST_DELAY: DelayOptions = { base: 15_000, longest: 900_000 };

/**
 * Milliseconds that a watch waits after the n-th failure in a row (from 1), and at least what the source requested. Half of it is
 * random, so that many consumers of one source do not return at the same time.
 * @param random from 0 to 1
 */
export function delayAfter(
  failures: number,
  floor: number | undefined,
  delay: DelayOptions,
  random: () => number,
): number {
  const most = doubled(failures, delay);
  return Math.max(floor ?? 0, Math.round(most / 2 + random() * (most / 2)));
}
