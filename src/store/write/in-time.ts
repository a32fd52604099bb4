/**
 * How long a write transaction may last, for every engine. Usually it is so short that its timestamp is not old when it
 * is first seen (I2). What cannot be done in several transactions, such as one listing with 100,000 photos, may take
 * longer: its timestamp is then taken ahead, as far as the work is going to take, and the commit waits until the clock is
 * there. Either way no reader meets a timestamp that is older than the usual transaction, or one of the future.
 */
import type { Clock } from '../clock.ts';
import type { Span } from './allot-timestamps.ts';
import type { CommitTimestamps } from './commit-timestamps.ts';
import type { WriteTransaction } from './transaction.ts';

/** The limits of a writer's transactions; a test has smaller ones, and a clock of its own. */
export interface WriteLimits {
  /** Milliseconds from the timestamp to the commit. */
  readonly usual: number;
  /** Milliseconds of the work that stands alone; other writers wait longer than that for the lock. */
  readonly alone: number;
  /** Rows that are put between two looks at the time. */
  readonly rowsAtOnce: number;
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsed: () => number;
}

export const WRITE_LIMITS: WriteLimits = {
  usual: 2000,
  alone: 20_000,
  rowsAtOnce: 5000,
  elapsed: () => performance.now(),
};

/** What a transaction is allowed. */
export interface Allowed {
  /** Milliseconds that the timestamp lies ahead of the clock. */
  readonly ahead: number;
  /** Where timestamps are to lie, as far as there is room. */
  readonly over?: Span | undefined;
  /** Milliseconds after which the work is broken off: beyond those it is not going to be committed. */
  readonly longest: number;
}

/** The outcome of work under a timestamp. */
export type Timed<T> =
  | { readonly kind: 'done'; readonly result: T }
  /** It is to be rolled back. `milliseconds` is how long it took, or until it was broken off. */
  | { readonly kind: 'too-long'; readonly milliseconds: number };

class TakesTooLong extends Error {}

/**
 * Runs the work of one transaction, and waits for the clock where its timestamp lies ahead.
 * @param started what `elapsed` said before the timestamp was taken
 */
export async function inTime<T>(
  transaction: WriteTransaction,
  work: (transaction: WriteTransaction) => Promise<T>,
  clock: Clock,
  { usual, rowsAtOnce, elapsed }: WriteLimits,
  { ahead, longest }: Allowed,
  started: number,
): Promise<Timed<T>> {
  const taken = (): number => elapsed() - started;
  const watched = watch(transaction, rowsAtOnce, () => {
    if (taken() > longest) throw new TakesTooLong();
  });
  let result: T;
  try {
    result = await work(watched);
  } catch (error) {
    if (error instanceof TakesTooLong) return { kind: 'too-long', milliseconds: taken() };
    throw error;
  }
  const { timestamps } = transaction;
  // So many records that their timestamps, ten in a millisecond, end too far ahead are too many for one transaction.
  if (timestamps.ahead > ahead + usual) {
    return { kind: 'too-long', milliseconds: Math.max(taken(), timestamps.ahead) };
  }
  if (taken() <= ahead + usual) await reach(clock, timestamps);
  const milliseconds = taken();
  return milliseconds <= ahead + usual ? { kind: 'done', result } : { kind: 'too-long', milliseconds };
}

/**
 * Waits until the clock has come to all timestamps of a commit, but no longer than it should take: it may have been set
 * back meanwhile.
 */
export async function reach(
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

/** The same transaction, in which many rows are put in parts, with a look at the time before each. */
function watch(transaction: WriteTransaction, rowsAtOnce: number, look: () => void): WriteTransaction {
  return {
    ...transaction,
    async put(resource, rows) {
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        look();
        await transaction.put(resource, rows.slice(at, at + rowsAtOnce));
      }
    },
  };
}
