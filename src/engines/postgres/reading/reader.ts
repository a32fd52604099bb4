import type { Lane, ReadCaller } from '../../../store/lanes.ts';
import type { Lanes } from '../connection/connect.ts';
import { borrow, type Loan, type ServerSession } from '../connection/session.ts';
import { SILENT } from '../connection/unresponsive.ts';
import { LOOK, type Seen, seenIn } from './look-row.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** What was read on a snapshot. */
export interface Snapshot<T> {
  /** What the snapshot sees of the store. */
  readonly seen: Seen;
  /** When its first statement was sent, on a clock that only runs forward. */
  readonly asked: number;
  readonly result: T;
}

/** How a snapshot is read, and for whom. */
export interface Reading {
  readonly milliseconds: number;
  readonly lane: Lane;
  readonly caller: ReadCaller | undefined;
  /** The hash of the token to look for, and the row of its key as last known; null: none. */
  readonly tokenHash: string | null;
  readonly keyRow: string | null;
}

/** Reads on a connection, on one snapshot. */
type OnLoan<T> = (loan: Loan) => Promise<Snapshot<T>>;

/** Reads on one snapshot of the store, on a connection of a lane, when it is the caller's turn, and within a time. */
export async function readSnapshot<T>(
  lanes: Lanes,
  { milliseconds, lane, caller }: Reading,
  read: OnLoan<T>,
): Promise<Snapshot<T>> {
  let began = performance.now();
  using loan = await borrow(lanes[lane], {
    milliseconds,
    patience: milliseconds + SILENT,
    name: caller?.name,
    returned: () => caller?.spent(lane, performance.now() - began),
  });
  using _turn = caller === undefined ? undefined : await lanes.work[lane]?.enter(caller.name);
  began = performance.now();
  await loan.run(async () => caller?.begin(lane));
  return await read(loan);
}

/**
 * Reads with several statements. What begins and ends their transaction is sent along with them, so that none of it is a
 * round trip of its own.
 */
export async function readInTransaction<T>(
  loan: Loan,
  { tokenHash }: Reading,
  work: (session: ServerSession) => Promise<T>,
): Promise<Snapshot<T>> {
  loan.endWith(({ run }) => run('COMMIT'));
  const asked = performance.now();
  const [begun, state, read] = await Promise.allSettled([
    loan.run(({ run }) => run(BEGIN)),
    loan.run(({ rows }) => rows(LOOK, [tokenHash])),
    loan.run(work),
  ]);
  if (begun.status === 'rejected') throw begun.reason;
  if (state.status === 'rejected') throw state.reason;
  if (read.status === 'rejected') throw read.reason;
  const [row] = state.value;
  return { seen: seenIn(row), asked, result: read.value };
}
