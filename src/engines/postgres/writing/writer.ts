/** What the store's writer needs of a server. */

import type { Pool } from 'pg';
import type { WriteLimits } from '../../../store/write/in-time.ts';
import { StoreWriter } from '../../../store/writer.ts';
import { PATIENCE } from '../connection/connect.ts';
import { refusalIn } from '../connection/errors.ts';
import { allow, sessionOf, withSession } from '../connection/session.ts';
import { keepPromise, readModel } from '../meta.ts';
import { makePartitions, NewSystems, systemsAtOnce } from '../partitions/partitions.ts';
import { readState } from '../reading/look-row.ts';
import { applyTables } from '../tables/extend.ts';
import { underLock } from './lock.ts';
import type { StampClock } from './stamp-clock.ts';
import { type ServerWriteSession, writeSessionOn } from './write-session.ts';

export function writerOn(
  pool: Pool,
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
      readModel: () => withSession(pool, readModel),
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
      // Partitions for new systems are made in transactions of their own, since that may take long.
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
