import type { Pool, PoolClient } from 'pg';
import { takeConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { isFull } from './prepared.ts';
import { type Session, sessionOn } from './session.ts';

/** What a snapshot sees of the store's state. */
const SEEN = `SELECT (SELECT value FROM plat_meta WHERE name = 'generation') AS generation,
  coalesce((SELECT value FROM plat_meta WHERE name = 'changes'), '0') AS changes`;

/** What a snapshot was taken of. */
export interface Snapshot<T> {
  /** Of the settings and the profile, as the statements met them. */
  readonly generation: number;
  /** How many transactions had changed the store (meta.ts). */
  readonly changes: number;
  readonly result: T;
}

/**
 * Reads on one snapshot of the store, within a time. What begins and ends the transaction is sent along with the
 * statements, so that a reading of one statement is one round trip.
 */
export async function readSnapshot<T>(
  pool: Pool,
  milliseconds: number,
  work: (session: Session) => Promise<T>,
): Promise<Snapshot<T>> {
  const client = await takeConnection(pool);
  const session = sessionOn(client);
  const [begun, state, read] = await Promise.allSettled([
    client.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${Math.max(1, Math.round(milliseconds))}`,
    ),
    session.rows(SEEN, []),
    work(session),
  ]);
  giveBack(client, [begun, state, read]);
  if (begun.status === 'rejected') throw begun.reason;
  if (state.status === 'rejected') throw state.reason;
  if (read.status === 'rejected') throw read.reason;
  const [row] = state.value;
  return { generation: Number(row?.generation), changes: Number(row?.changes), result: read.value };
}

/** Ends the transaction without waiting for it, and gives the connection back when that is done. */
function giveBack(client: PoolClient, outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const lost = outcomes.some((each) => each.status === 'rejected' && isUnavailable(each.reason));
  if (lost) client.release(true);
  else {
    client.query('COMMIT').then(
      () => client.release(isFull(client)),
      () => client.release(true),
    );
  }
}
