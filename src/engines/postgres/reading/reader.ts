import type { Lane, ReadCaller } from '../../../store/lanes.ts';
import type { Lanes } from '../connection/lanes.ts';
import { borrow, type ServerSession } from '../connection/session.ts';
import { SILENT } from '../connection/unresponsive.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** What a snapshot sees of the store's state. */
const SEEN = `SELECT (SELECT value FROM plat_meta WHERE name = 'generation') AS generation,
  coalesce((SELECT value FROM plat_meta WHERE name = 'changes'), '0') AS changes, pg_is_in_recovery() AS follows`;

/** What a snapshot was taken of. */
export interface Snapshot<T> {
  /** Of the settings and the profile, as the statements met them. */
  readonly generation: number;
  /** How many transactions had changed the store (meta.ts). */
  readonly changes: number;
  /** Whether the server follows another one, and is not written to itself. */
  readonly follows: boolean;
  readonly result: T;
}

/** How a snapshot is read, and for whom. */
interface Reading {
  readonly milliseconds: number;
  readonly lane: Lane;
  readonly caller: ReadCaller | undefined;
}

/**
 * Reads on one snapshot of the store, within a time. What begins and ends the transaction is sent along with the
 * statements, so that a reading of one statement is one round trip.
 */
export async function readSnapshot<T>(
  lanes: Lanes,
  { milliseconds, lane, caller }: Reading,
  work: (session: ServerSession) => Promise<T>,
): Promise<Snapshot<T>> {
  let began = performance.now();
  using loan = await borrow(lanes[lane], {
    patience: milliseconds + SILENT,
    ending: ({ run }) => run('COMMIT'),
    name: caller?.name,
    returned: () => caller?.spent(lane, performance.now() - began),
  });
  using _turn = caller === undefined ? undefined : await lanes.work[lane]?.enter(caller.name);
  began = performance.now();
  await loan.run(async () => caller?.begin(lane));
  const timeout = Math.max(1, Math.round(milliseconds));
  const [begun, state, read] = await Promise.allSettled([
    loan.run(({ run }) => run(`${BEGIN}; SET LOCAL statement_timeout = ${timeout}`)),
    loan.run(({ rows }) => rows(SEEN, [])),
    loan.run(work),
  ]);
  if (begun.status === 'rejected') throw begun.reason;
  if (state.status === 'rejected') throw state.reason;
  if (read.status === 'rejected') throw read.reason;
  const [row] = state.value;
  return {
    generation: Number(row?.generation),
    changes: Number(row?.changes),
    follows: row?.follows === true,
    result: read.value,
  };
}
