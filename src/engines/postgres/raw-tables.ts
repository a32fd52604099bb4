import { failedError, usageError } from '../../errors/index.ts';
import { type RawTables, tablesOn } from '../../store/copy/copy-store.ts';
import { ChangeLog } from '../../store/rows/change-log.ts';
import { Counters } from '../../store/rows/counters.ts';
import { alignSystems } from '../../store/rows/visibility.ts';
import { inTransaction } from '../../store/session.ts';
import { readMeta, writeMeta } from '../../store/state/meta.ts';
import type { PartitionField } from '../../store/store.ts';
import { type PostgresAddress, parsePostgresAddress } from './connection/address.ts';
import { StorePool } from './connection/connect.ts';
import { openingError, translateError } from './connection/errors.ts';
import { type ServerSession, SNAPSHOT, withSession } from './connection/session.ts';
import { COLUMN_TYPES } from './dialect.ts';
import { CURRENT_LAYOUT } from './migrations/migrate.ts';
import { makePartitions, readSystems } from './partitions/partitions.ts';
import { inspect, makeFunctions, makeSchema, OWN_TABLE_STATEMENTS } from './tables/create.ts';
import { applyTables, readColumns } from './tables/tables.ts';
import { copyIn } from './writing/copy-in.ts';
import { LOCK_CLASS } from './writing/lock.ts';
import { writeSessionOn } from './writing/writer.ts';

/**
 * The tables of the store in a schema, which is created if it does not exist.
 * @param partitions the partition key of large tables, if they are created
 */
export async function postgresTables(text: string, partitions?: PartitionField): Promise<RawTables> {
  const address = parsePostgresAddress(text);
  const pool = new StorePool(address);
  const { name } = address;
  let found = await withSession(pool, (session) => inspect(session, address)).catch(
    async (error: unknown) => {
      await pool.end();
      throw openingError(error, address);
    },
  );
  return tablesOn<ServerSession>({
    name,
    whole: found === 'store',
    types: COLUMN_TYPES,
    use: (work, isAlone) =>
      withSession(pool, async (session) => {
        if (isAlone) await mustBeOnlyCopy(session, address);
        return await work(session);
      }),
    transaction: (session, kind, work) =>
      inTransaction(session, work, kind === 'read' ? SNAPSHOT : undefined),
    columns: readColumns,
    async isWhole(session) {
      found = await inspect(session, address);
      return found === 'store';
    },
    async prepare(session, model) {
      await makeSchema(session, address.schema);
      for (const text of OWN_TABLE_STATEMENTS) await session.run(text);
      if (partitions !== undefined && found === 'nothing') await writeMeta(session, { partitions });
      if (partitions !== undefined && (await readSystems(session)) === undefined) {
        throw usageError(`The copy into ${name} was started without partitions.`);
      }
      await applyTables(session, model);
    },
    async beforeRows(session, systems) {
      if (systems.length === 0 || (await readSystems(session)) === undefined) return;
      await makePartitions(systems, (make) => inTransaction(session, () => make(session)));
    },
    insert: (session, table, rows) => copyIn(session, table.name, table.columns, rows),
    async complete(session, model) {
      await makeFunctions(session, name);
      if ((await readSystems(session)) === undefined) return;
      await alignSystems({
        session: writeSessionOn(session),
        model,
        counters: new Counters(session),
        changes: new ChangeLog(session, model, Date.parse((await readMeta(session)).lastStamp)),
        source: null,
      });
    },
    mark: (session) => writeMeta(session, CURRENT_LAYOUT),
    explain: (error) => translateError(error, address, 0),
    close: () => pool.end(),
  });
}

/** Two copies into the same schema would mistake each other's rows for their own. The lock is released with the connection. */
async function mustBeOnlyCopy(session: ServerSession, { schema, name }: PostgresAddress): Promise<void> {
  const [row] = await session.rows('SELECT pg_try_advisory_lock($1, hashtext($2)) AS alone', [
    LOCK_CLASS,
    `copy into ${schema}`,
  ]);
  if (row?.alone !== true) throw failedError(`Another copy into ${name} is running.`);
}
