import type { Pool } from 'pg';
import { takeConnection } from '../connection/connect.ts';
import { isUnavailable } from '../connection/errors.ts';
import { isFull } from '../connection/prepared.ts';
import { type Session, sessionOn } from '../connection/session.ts';
import { SILENT, watch } from '../connection/silence.ts';

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
  /** The result is not wanted: what is still read of it is left. Absent: it is all there. */
  readonly leave?: () => void;
}

/**
 * Reads on one snapshot of the store, within a time. What begins and ends the transaction is sent along with the
 * statements, so that a reading of one statement is one round trip. A result may be still on its way when it is given;
 * the connection is free once it is taken or left.
 */
export async function readSnapshot<T>(
  pool: Pool,
  milliseconds: number,
  work: (session: Session) => Promise<T>,
): Promise<Snapshot<T>> {
  const client = await takeConnection(pool);
  const watching = watch(client, milliseconds + SILENT);
  const session = sessionOn(client, watching);
  const outcomes = await Promise.allSettled([
    client.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${Math.max(1, Math.round(milliseconds))}`,
    ),
    session.rows(SEEN, []),
    work(session),
  ]);
  const { readings } = session;
  const leave = (): void => {
    for (const reading of readings) reading.leave();
  };
  const [begun, state, read] = outcomes;
  if (outcomes.some(isFailed)) leave();
  void giveBack();
  if (begun.status === 'rejected') throw begun.reason;
  if (state.status === 'rejected') throw state.reason;
  if (read.status === 'rejected') throw read.reason;
  const [row] = state.value;
  const seen = {
    generation: Number(row?.generation),
    changes: Number(row?.changes),
    follows: row?.follows === true,
    result: read.value,
  };
  return readings.length === 0 ? seen : { ...seen, leave };

  /** Ends the transaction without anybody waiting for it, and gives the connection back when that is done. */
  async function giveBack(): Promise<void> {
    const ends = await Promise.allSettled(readings.map(({ done }) => done));
    let lost = [...outcomes, ...ends].some((each) => isFailed(each) && isUnavailable(each.reason));
    if (!lost) {
      await client.query('COMMIT').catch(() => {
        lost = true;
      });
    }
    watching.end();
    client.release(lost || isFull(client));
  }
}

const isFailed = (outcome: PromiseSettledResult<unknown>): outcome is PromiseRejectedResult =>
  outcome.status === 'rejected';
