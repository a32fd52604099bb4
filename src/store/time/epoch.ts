/** The epoch of a store: how it is named, and what changes when a new one begins. */
import { hash, randomBytes } from 'node:crypto';
import { dayFrom, timestampFrom } from '../../dictionary/index.ts';

/**
 * The epoch of a store identifies one timeline: while it stays the same, no timestamp and no position that a consumer has stored is
 * ever withdrawn. It is random, so that no two stores and no two restores of one backup share an epoch.
 */
export const newEpoch = (): string => randomBytes(9).toString('base64url');

/** The epoch of a store that was created before there were epochs; it stays until a new one begins. */
export const firstEpoch = (secret: string): string =>
  hash('sha256', `epoch ${secret}`, 'base64url').slice(0, 12);

/** How a new epoch begins. */
export interface NewEpoch {
  /** No later timestamp is before this moment. Milliseconds since 1970; absent: the store's own limit applies. */
  readonly notBefore?: number;
  /** Timestamps and promises beyond this moment no longer count (write/restamp-store.ts). Milliseconds since 1970. */
  readonly notAfter?: number;
}

/** Added to the counters of settings and changes: a process that outlived a restore knows counts that may not recur. */
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
