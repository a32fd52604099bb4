/** The operations of a server that the store's writer needs. */
import type { ColumnKind } from '../../../compile/column-value.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import { bind, join, name, type Sql, sql } from '../../../compile/fragment.ts';
import type { WriteEngine } from '../../../store/engine.ts';
import type { RowIdentifiers, WriteSession } from '../../../store/session.ts';
import type { WriteLimits } from '../../../store/write/time-limits.ts';
import { type StorePool, TIMEOUTS } from '../connection/connect.ts';
import { refusalOf } from '../connection/errors.ts';
import { extendTimeLimit, poolSession, type ServerSession } from '../connection/session.ts';
import { partitionedDialect, postgresDialect } from '../dialect.ts';
import { MissingPartitions, makePartitions, partitionCheck } from '../partitions/partitions.ts';
import { readState } from '../reading/live-state.ts';
import { applyTables } from '../tables/tables.ts';
import { copyIn } from './copy-in.ts';
import { underLock } from './lock.ts';
import type { ServerClock } from './server-clock.ts';

export type ServerWriteSession = ServerSession & WriteSession;

const among = ({ oneOf, integerTable: list }: Dialect, stored: RowIdentifiers): Sql =>
  stored.by === '_key'
    ? oneOf(sql`_key`, stored.keys)
    : sql`_id IN (SELECT l.value FROM ${list(bind(JSON.stringify(stored.ids)), 'l')})`;

/**
 * The session of a connection that holds the write lock.
 * @param isPartitioned whether large tables are partitioned by originating system
 */
export const writeSessionOn = (session: ServerSession, isPartitioned = false): ServerWriteSession => ({
  ...session,
  dialect: isPartitioned ? partitionedDialect : postgresDialect,
  async replace(table, stored, columns, rows) {
    const { length } = stored.by === '_key' ? stored.keys : stored.ids;
    if (length > 0)
      await session.run(sql`DELETE FROM ${name(table)} WHERE ${among(session.dialect, stored)}`);
    await copyIn(session, table, columns, rows);
  },
  async update(table, columns, rows) {
    const kinds = new Map<string, ColumnKind>([['_key', 'text'], ...columns]);
    const names = [...kinds.keys()];
    const given = rows.map((row) => Object.fromEntries(names.map((each, at) => [each, row[at]])));
    const set = [...columns.keys()].map((each) => sql`${name(each)} = v.${name(each)}`);
    const values = session.dialect.objectTable(bind(JSON.stringify(given)), 'v', kinds);
    await session.run(
      sql`UPDATE ${name(table)} AS t SET ${join(set, ', ')} FROM ${values} WHERE t._key = v._key`,
    );
  },
  ...(isPartitioned ? { beforePut: partitionCheck(session) } : {}),
});

export function writingOn(
  pool: StorePool,
  clock: ServerClock,
  isPartitioned: boolean,
  limits: WriteLimits | undefined,
): WriteEngine<ServerWriteSession> {
  const locked: WriteEngine<ServerWriteSession>['underLock'] = (work, { patience, isLong = false } = {}) =>
    underLock(
      pool,
      async (session) => {
        if (isLong) await extendTimeLimit(session, TIMEOUTS.large);
        return await work(writeSessionOn(session, isPartitioned));
      },
      { patience },
    );
  return {
    ...{ clock, limits },
    largestWeight: 4000,
    refusal: refusalOf,
    reading: poolSession(pool),
    underLock: locked,
    timeState: (session) => readState(session, clock),
    applyTables,
    async beforeCommit(session, lastStamp) {
      await session.run(KEEP_PROMISE, [String(Date.parse(lastStamp))]);
    },
    async recover(error) {
      if (!(error instanceof MissingPartitions)) return false;
      await makePartitions(error.systems, (make) => locked(make, { isLong: true }));
      return true;
    },
  };
}

/**
 * If a reader has requested a promise since the last one (`plat_promise`), a writer saves one at the end of its transaction: no
 * later commit may use a timestamp before it (I2). If one writer follows another, a reader never finds the lock free.
 */
const KEEP_PROMISE = `INSERT INTO plat_meta
  SELECT 'settled', $1 FROM plat_meta asked
  WHERE asked.name = 'asked' AND asked.value::bigint > coalesce(
    (SELECT value::float8 FROM plat_meta WHERE name = 'settled'), 0)
  ON CONFLICT (name) DO UPDATE SET value = greatest(plat_meta.value::float8, excluded.value::float8)::bigint::text`;
