/**
 * How long a write transaction may last. It is usually so short that its timestamp is recent when a reader first sees
 * it (I2). Work that cannot be split, such as one listing with 100,000 photos, may take longer: its timestamp is then
 * as far ahead as the work will take, and the commit waits until the clock reaches it. Either way, no reader sees a
 * timestamp that is older than a usual transaction or that is in the future.
 */

import { chunked } from '../../shared/chunked.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { CommitTimestamps, Span } from './commit-timestamps.ts';
import type { WriteTransaction } from './transaction.ts';

/** The limits of a writer's transactions. */
export interface WriteLimits {
  /** The usual time from the timestamp to the commit, in milliseconds. */
  readonly usual: number;
  /** Milliseconds for work that cannot be split; other writers wait longer than that for the lock. */
  readonly alone: number;
  /** Rows that are stored between two checks of the time. */
  readonly rowsAtOnce: number;
  /** Milliseconds of a clock that cannot be set. */
  readonly elapsed: () => number;
  /** Waits for the process that has the lock: other processes take real time, whatever clock sets the timestamps. */
  readonly sleep: Clock['sleep'];
}

export const WRITE_LIMITS: WriteLimits = {
  usual: 2000,
  alone: 20_000,
  rowsAtOnce: 5000,
  elapsed: () => performance.now(),
  sleep: systemClock.sleep,
};

export interface TransactionLimits {
  /** Milliseconds by which the timestamp is ahead of the clock. */
  readonly ahead: number;
  /** The span in which timestamps should lie, as far as there is room. */
  readonly over?: Span | undefined;
  /** Milliseconds after which the work stops, since it would not be committed. */
  readonly longest: number;
}

/** Thrown by work that must be rolled back, since it takes too long. */
export class TookTooLong extends Error {
  /** Milliseconds until the work ended or was stopped. */
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super(`The work took ${milliseconds} ms`);
    this.milliseconds = milliseconds;
  }
}

/**
 * Runs the work of one transaction, and waits for the clock if its timestamp is ahead.
 * @param started the value of `elapsed` before the timestamp was taken
 * @throws TookTooLong
 */
export async function runWithinLimits<T>(
  transaction: WriteTransaction,
  work: (transaction: WriteTransaction) => Promise<T>,
  clock: Clock,
  { usual, rowsAtOnce, elapsed }: WriteLimits,
  { ahead, longest }: TransactionLimits,
  started: number,
): Promise<T> {
  const taken = (): number => elapsed() - started;
  const watched = withTimeChecks(transaction, rowsAtOnce, () => {
    if (taken() > longest) throw new TookTooLong(taken());
  });
  const result = await work(watched);
  const { timestamps } = transaction;
  // There are too many records for one transaction: their timestamps, ten in a millisecond, end too far ahead.
  if (timestamps.ahead > ahead + usual) throw new TookTooLong(Math.max(taken(), timestamps.ahead));
  if (taken() <= ahead + usual) await waitForClock(clock, timestamps);
  const milliseconds = taken();
  if (milliseconds > ahead + usual) throw new TookTooLong(milliseconds);
  return result;
}

/** Waits until the clock has reached a commit's timestamps; no longer than that takes, since it may be set back. */
export async function waitForClock(
  { now, sleep }: Clock,
  { ahead, lastStamp }: Pick<CommitTimestamps, 'ahead' | 'lastStamp'>,
): Promise<void> {
  const moment = Date.parse(lastStamp);
  for (let left = ahead; left > 0 && now() < moment; ) {
    const wait = Math.min(left, moment - now());
    await sleep(wait);
    left -= wait;
  }
}

/** Wraps a transaction so that it stores many rows in parts and checks the time before each part. */
function withTimeChecks(
  transaction: WriteTransaction,
  rowsAtOnce: number,
  checkTime: () => void,
): WriteTransaction {
  return {
    ...transaction,
    async put(resource, rows) {
      for (const some of chunked(rows, rowsAtOnce)) {
        checkTime();
        await transaction.put(resource, some);
      }
    },
  };
}
