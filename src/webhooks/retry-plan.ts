/** When a failed delivery is retried, and when retrying ends. This module does not know what is delivered. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The delay after each failed attempt in a row, in milliseconds. The last one applies to all further attempts. */
const DELAYS = [
  5 * SECOND,
  30 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
] as const;

/** How long attempts continue after the first failed one. */
const GIVES_UP_AFTER = 72 * HOUR;

/** The longest wait that a receiver can request. */
export const MAX_RETRY_AFTER = 24 * HOUR;

/** If an attempt is later than planned by more than this, no process was trying, or the clock was set. */
const LATE = HOUR;

/** The part of a delay that is added to it at random, so that the receivers are not all tried at once after an outage. */
const JITTER = 0.1;

interface Failed {
  /** The number of failed attempts in a row, including this one. */
  readonly attempts: number;
  /** Times are milliseconds since 1970. */
  readonly failingSince: number;
  readonly now: number;
  /** The wait that the receiver requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * The time since which a webhook has been failing, after another failed attempt. Hours in which no process tried do not count, so
 * that a service that was stopped for days, or a clock that was set ahead, does not pause a webhook.
 *
 * @param state the state before the attempt
 * @param begun when the attempt began
 */
export function failingSinceAt(
  {
    failingSince,
    nextAttempt: planned,
  }: { readonly failingSince: number | null; readonly nextAttempt: number },
  begun: number,
): number {
  if (failingSince === null) return begun;
  const late = begun - planned;
  return Math.min(begun, late > LATE ? failingSince + late : failingSince);
}

/** @returns the time of the next attempt, in whole milliseconds, as tables store it; undefined: there is none */
export function nextAttemptTime({
  attempts,
  failingSince,
  now,
  retryAfter = 0,
  random,
}: Failed): number | undefined {
  const end = failingSince + GIVES_UP_AFTER;
  if (now >= end) return undefined;
  const planned = DELAYS[Math.min(attempts, DELAYS.length) - 1] ?? 0;
  const delay = Math.round(planned * (1 + JITTER * random));
  return Math.min(now + Math.max(delay, Math.min(retryAfter, MAX_RETRY_AFTER)), end);
}
