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
