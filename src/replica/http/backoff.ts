/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first wait is up to this, each later one up to twice as much. Milliseconds. */
  readonly base: number;
  readonly longest: number;
  /** Attempts at one request before it is given up. */
  readonly attempts: number;
}

export const USUAL_BACKOFF: BackoffOptions = { base: 1000, longest: 60_000, attempts: 8 };

/**
 * Of the first contact with a source that never answered, while nothing takes the connection: its address may be wrong, and
 * a person looks on.
 */
export const FIRST_CONTACT: BackoffOptions = { base: 1000, longest: 4000, attempts: 4 };

/** Of a command that a person waits for, and that stores nothing: it can be run again. */
export const SHORT_BACKOFF: BackoffOptions = { base: 1000, longest: 8000, attempts: 5 };

/**
 * Milliseconds to wait after the n-th failure (from 1): full jitter, with what the source asked for as a floor.
 * @param random from 0 to 1
 */
export function waitAfter(
  failures: number,
  floor: number | undefined,
  { base, longest }: BackoffOptions,
  random: () => number,
): number {
  const most = Math.min(longest, base * 2 ** (failures - 1));
  return (floor ?? 0) + Math.round(random() * most);
}

/** How a watch waits before it tries again what failed as a whole: never not at all, never for ever. */
export interface RestOptions {
  /** Up to the first wait; each later one up to twice as much. Milliseconds. */
  readonly base: number;
  readonly longest: number;
}

/** What waiting mends: a store or a source that is away, or busy. */
export const SHORT_REST: RestOptions = { base: 1000, longest: 30_000 };
/** A step that failed though its requests were repeated. */
export const LONG_REST: RestOptions = { base: 15_000, longest: 300_000 };
/** What a person has to mend: asking often could make it worse. */
export const LONGEST_REST: RestOptions = { base: 15_000, longest: 900_000 };

/**
 * Milliseconds to rest after the n-th failure in a row (from 1): half of it by chance, so that many consumers of one
 * source do not come back together, with what the source asked for as a floor.
 * @param random from 0 to 1
 */
export function restAfter(
  failures: number,
  floor: number | undefined,
  { base, longest }: RestOptions,
  random: () => number,
): number {
  const most = Math.min(longest, base * 2 ** Math.min(failures - 1, 20));
  return Math.max(floor ?? 0, Math.round(most / 2 + random() * (most / 2)));
}
