/**
 * The epoch of a store: a name for its one line of time. As long as it stays, no timestamp and no position that a
 * consumer has kept was ever taken back. A restored backup and restamped records begin a new one. It says nothing else.
 */
import { hash, randomBytes } from 'node:crypto';
import { dayFrom, timestampFrom } from '../dictionary/index.ts';

/** Random, so that no two stores and no two restores of one backup ever agree. */
export const newEpoch = (): string => randomBytes(9).toString('base64url');

/** The epoch of a store that was made before there were epochs; it stays until a new one begins. */
export const firstEpoch = (secret: string): string =>
  hash('sha256', `epoch ${secret}`, 'base64url').slice(0, 12);

/** How a new epoch begins. */
export interface NewEpoch {
  /** No timestamp before this moment is given any more. Milliseconds since 1970; absent: the store's own bound stays. */
  readonly notBefore?: number;
  /**
   * What was given or promised beyond this moment counts no more, and timestamps of records are brought back after it
   * (write/bring-back.ts). Milliseconds since 1970; absent: nothing is taken back.
   */
  readonly notAfter?: number;
}

/**
 * What the store's counts (of its settings, of its changes) go on by: a process that outlived the restore knows counts of
 * the time that is gone, and none of them comes again.
 */
export const COUNTS_GO_ON = 1_000_000;

/** What a store keeps of its time. */
export interface Times {
  readonly lastStamp: string;
  /** Milliseconds since 1970. */
  readonly settled: number;
  /** The UTC day whose rules the stored visibility follows. */
  readonly day: string;
}

/** The same at the beginning of a new epoch. */
export function timesOfEpoch(
  { lastStamp, settled, day }: Times,
  { notBefore = 0, notAfter = Number.POSITIVE_INFINITY }: NewEpoch,
): Times {
  const today = Number.isFinite(notAfter) ? dayFrom(notAfter) : day;
  return {
    lastStamp: Date.parse(lastStamp) > notAfter ? timestampFrom(notAfter) : lastStamp,
    settled: Math.max(Math.min(settled, notAfter), notBefore),
    // Visibility that follows the rules of a day to come is evaluated anew, as on any new day.
    day: day > today ? dayFrom(notAfter - DAY) : day,
  };
}

const DAY = 86_400_000;
