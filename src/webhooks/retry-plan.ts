/** When a delivery that failed is tried again, and when it is given up. It knows nothing of what was sent. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After each failed attempt in a row; the last one stands for all that follow. Milliseconds. */
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

/** How long attempts go on after the first that failed. */
const GIVES_UP_AFTER = 72 * HOUR;

/** A receiver may ask for a later attempt, but not for one after this time. */
export const LONGEST_WAIT = 24 * HOUR;

/** An attempt that is later than this shows that nobody tried, or that the clock was set. */
const LATE = HOUR;

/** Up to this part of a delay is added to it, so that the receivers of a service that was down are not tried at once. */
const JITTER = 0.1;

interface Failed {
  /** Failed attempts in a row, with this one. */
  readonly attempts: number;
  /** Moments are milliseconds since 1970. */
  readonly failingSince: number;
  readonly now: number;
  /** What the receiver requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * Since when a webhook fails, at another attempt that has failed. Hours in which nobody tried do not count: a service that
 * was stopped for days, or a clock that was set ahead, ends no webhook.
 * @param state as it was before the attempt
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

/** @returns the moment of the next attempt; undefined: there is none */
export function nextAttempt({
  attempts,
  failingSince,
  now,
  retryAfter = 0,
  random,
}: Failed): number | undefined {
  const end = failingSince + GIVES_UP_AFTER;
  if (now >= end) return undefined;
  const planned = DELAYS[Math.min(attempts, DELAYS.length) - 1] ?? 0;
  const delay = planned * (1 + JITTER * random);
  return Math.min(now + Math.max(delay, Math.min(retryAfter, LONGEST_WAIT)), end);
}
