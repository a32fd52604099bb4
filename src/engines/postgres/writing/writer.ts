/** What the store's writer needs from a server. */

import type { WriteLimits } from '../../../store/write/in-time.ts';
import { StoreWriter } from '../../../store/writer.ts';
import type { StorePool } from '../connection/connect.ts';
import { PATIENCE } from '../connection/connect.ts';
import { refusalIn } from '../connection/errors.ts';
import { allow, type ServerSession, sessionOf } from '../connection/session.ts';
import { makePartitions, NewSystems, systemsAtOnce } from '../partitions/partitions.ts';
import { readState } from '../reading/look-row.ts';
import { applyTables } from '../tables/extend.ts';
import { underLock } from './lock.ts';
import type { StampClock } from './stamp-clock.ts';
import { type ServerWriteSession, writeSessionOn } from './write-session.ts';

export function writerOn(
  pool: StorePool,
  clock: StampClock,
  isPartitioned: boolean,
  limits: WriteLimits | undefined,
): StoreWriter<ServerWriteSession> {
  return new StoreWriter<ServerWriteSession>(
    {
      clock,
      largestWeight: 4000,
      refusal: refusalIn,
      reading: sessionOf(pool),
      underLock: (work, { patience, isLong = false } = {}) =>
        underLock(
          pool,
          async (session) => {
            if (isLong) await allow(session, PATIENCE.large);
            return await work(writeSessionOn(session, isPartitioned));
          },
          { patience },
        ),
      timeState: (session) => readState(session, clock),
      applyTables,
      beforeCommit: keepPromise,
      // Partitions for new systems are created in separate transactions, because that may take long.
      async recover(error) {
        if (!(error instanceof NewSystems)) return false;
        for (const systems of systemsAtOnce(error.systems)) {
          await underLock(pool, async (session) => {
            await allow(session, PATIENCE.large);
            await makePartitions(session, systems);
          });
        }
        return true;
      },
    },
    limits,
  );
}

/**
 * If a reader has requested a promise since the last one (`plat_promise`), saves one: no later commit may use a timestamp before
 * this one (I2).
 */
const KEEP_PROMISE = `INSERT INTO plat_meta
  SELECT 'settled', $1 FROM plat_meta asked
  WHERE asked.name = 'asked' AND asked.value::bigint > coalesce(
    (SELECT value::bigint FROM plat_meta WHERE name = 'settled'), 0)
  ON CONFLICT (name) DO UPDATE SET value = greatest(plat_meta.value::bigint, excluded.value::bigint)::text`;

/**
 * Saves the promise that a reader waits for at the end of a transaction: if one writer follows another, a reader never finds the
 * lock free.
 *
 * @param lastStamp the store's last timestamp, including that of the transaction. Canonical
 */
async function keepPromise(session: ServerSession, lastStamp: string): Promise<void> {
  await session.run(KEEP_PROMISE, [String(Date.parse(lastStamp))]);
}
