/**
 * The epoch of a store identifies one timeline. While it stays the same, no timestamp and no position that a consumer
 * has stored is ever withdrawn. Restoring a backup and restamping each begin a new epoch.
 */
import { hash, randomBytes } from 'node:crypto';
import { dayFrom, timestampFrom } from '../../dictionary/index.ts';

/** Random, so that no two stores and no two restores of one backup share an epoch. */
export const newEpoch = (): string => randomBytes(9).toString('base64url');

/** The epoch of a store that was created before there were epochs; it stays until a new one begins. */
export const firstEpoch = (secret: string): string =>
  hash('sha256', `epoch ${secret}`, 'base64url').slice(0, 12);

/** How a new epoch begins. */
export interface NewEpoch {
  /** No later timestamp is before this moment. Milliseconds since 1970; absent: the store's own limit applies. */
  readonly notBefore?: number;
  /**
   * Timestamps and promises beyond this moment no longer count, and their records get earlier timestamps again
   * (write/bring-back.ts). Milliseconds since 1970; absent: nothing is withdrawn.
   */
  readonly notAfter?: number;
}

/**
 * Added to the store's counters (of settings and of changes) by each new epoch: a process that outlived a restore knows counts of
 * the abandoned timeline, none of which may recur.
 */
export const EPOCH_COUNT_STEP = 1_000_000;

/** The times that a store records. */
interface Times {
  readonly lastStamp: string;
  /** Milliseconds since 1970. */
  readonly settled: number;
  /** The UTC day of the rules that the stored visibility reflects. */
  readonly day: string;
}

/** The times at the beginning of a new epoch. */
export function timesOfEpoch(
  { lastStamp, settled, day }: Times,
  { notBefore = 0, notAfter = Number.POSITIVE_INFINITY }: NewEpoch,
): Times {
  const today = Number.isFinite(notAfter) ? dayFrom(notAfter) : day;
  return {
    lastStamp: Date.parse(lastStamp) > notAfter ? timestampFrom(notAfter) : lastStamp,
    settled: Math.max(Math.min(settled, notAfter), notBefore),
    // Visibility that reflects the rules of a future day is evaluated again, as on any new day.
    day: day > today ? dayFrom(notAfter - DAY) : day,
  };
}

const DAY = 86_400_000;
