/**
 * The epoch of a store: a name for its one line of time. As long as it stays, no timestamp and no position that a
 * consumer has kept was ever taken back. A restored backup and restamped records begin a new one. It says nothing else.
 */
import { hash, randomBytes } from 'node:crypto';

/** Random, so that no two stores and no two restores of one backup ever agree. */
export const newEpoch = (): string => randomBytes(9).toString('base64url');

/** The epoch of a store that was made before there were epochs; it stays until a new one begins. */
export const firstEpoch = (secret: string): string =>
  hash('sha256', `epoch ${secret}`, 'base64url').slice(0, 12);

/** How a new epoch begins. */
export interface NewEpoch {
  /** No timestamp before this moment is given any more. Milliseconds since 1970; absent: the store's own bound stays. */
  readonly notBefore?: number;
}

/**
 * What the store's counts (of its settings, of its changes) go on by: a process that outlived the restore knows counts of
 * the time that is gone, and none of them comes again.
 */
export const COUNTS_GO_ON = 1_000_000;
