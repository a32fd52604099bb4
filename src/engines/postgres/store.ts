/** The PostgreSQL engine: a store in a schema of a database, which any number of machines share. */
import { sql } from '../../compile/fragment.ts';
import type { WriteBackup } from '../../store/copy/copy-store.ts';
import { clockTrustOf, type Engine, type EngineOptions } from '../../store/engine.ts';
import { openOn } from '../../store/engine-store.ts';
import { readMeta } from '../../store/state/meta.ts';
import type { PartitionField, Store } from '../../store/store.ts';
import { type PostgresAddress, parsePostgresAddress } from './connection/address.ts';
import { connectLanes, StorePool, TIMEOUTS, type Timeouts, WAITS_OF_COMMAND } from './connection/connect.ts';
import { damageIn, openingError, translateError } from './connection/errors.ts';
import { borrow, poolSession, SNAPSHOT, withSession } from './connection/session.ts';
import { partitionedDialect, postgresDialect } from './dialect.ts';
import { findFileFaults, reindexings } from './file-faults.ts';
import { readSystems } from './partitions/partitions.ts';
import { postgresTables } from './raw-tables.ts';
import { listenAt } from './reading/announcements.ts';
import { LiveState } from './reading/live-state.ts';
import { readsOn } from './reading/reads.ts';
import { postgresShared } from './shared.ts';
import { ReadServers } from './standbys/read-servers.ts';
import { completeStore, prepareStore, requiredPreparation } from './tables/create.ts';
import { readColumns, repairView, viewState } from './tables/tables.ts';
import { makeServerClock } from './writing/server-clock.ts';
import { type ServerWriteSession, writingOn } from './writing/writer.ts';

export interface PostgresStoreOptions extends EngineOptions {
  /** `postgres://…` (address.ts). */
  readonly address: string;
  /** The partition key of a new store; an existing store must already have it. */
  readonly partitions?: PartitionField;
  /** Whether each lane opens its first connection up front, as a service needs; a command opens what it uses. */
  readonly warm?: boolean;
  /** Standbys of this server, which serve reads in its place. */
  readonly readStores?: ReadStoreOptions;
  /** Timeouts for the server; each has a default. */
  readonly patience?: Partial<Timeouts>;
  /** Writes a whole store to a new SQLite store. */
  readonly writeBackup: WriteBackup;
}

export interface ReadStoreOptions {
  /** `postgres://…` addresses of streaming standbys; one that has been promoted is not used. */
  readonly addresses: readonly string[];
  /** How long a read waits for a lagging standby, in milliseconds; the standby is then not used until it has caught up. */
  readonly lag: number;
}

/** Opens or creates the store on a server. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = parsePostgresAddress(options.address);
  try {
    return await openOn(await postgresEngine(address, options));
  } catch (error) {
    throw openingError(error, address);
  }
}

async function postgresEngine(
  address: PostgresAddress,
  options: PostgresStoreOptions,
): Promise<Engine<ServerWriteSession>> {
  const { name } = address;
  const { addresses = [], lag = 0 } = options.readStores ?? {};
  const clock = makeServerClock(options.clock, clockTrustOf(options));
  const patience = { ...TIMEOUTS, ...options.patience };
  const { write: statement, connect } = patience;
  await using taken = new AsyncDisposableStack();
  const writing = taken.use(new StorePool(address, { statement, connect }));
  const preparation = await withSession(writing, (session) => requiredPreparation(session, address, options));
  if (preparation !== undefined) {
    // This pool has no time limit, since a migration may take long.
    await using pool = new StorePool(address, { connect });
    await prepareStore(pool, address, options, clock);
  }
  const { secret, partitions } = await withSession(writing, (session) =>
    readMeta(session, 'secret', 'partitions'),
  );
  const standbys = new ReadServers(addresses.map(parsePostgresAddress), lag, secret, patience);
  const readServers = taken.adopt(standbys, (servers) => servers.end());
  await readServers.open();
  const lanes = taken.adopt(
    connectLanes(address, patience, options.warm === true ? 1 : WAITS_OF_COMMAND),
    (pools) => pools.end(),
  );
  if (options.warm === true) await lanes.openConnections();
  const dialect = partitions === undefined ? postgresDialect : partitionedDialect;
  const small = poolSession(lanes.small);
  const state = new LiveState(clock, lanes.small, writing.takeovers);
  taken.move(); // the engine owns and closes them
  return {
    ...{ name, secret, dialect },
    writing: writingOn(writing, clock, partitions !== undefined, options.limits),
    shared: postgresShared(small.rows),
    reading: { small, searches: poolSession(lanes.searches) },
    readStores: () => readServers.state(),

    now: () => state.now(),
    ask: () => state.ask(),
    timeState: () => state.ask(),
    look: (tokenHash) => state.look(tokenHash),
    // With standbys, nothing is assumed: each read must query the primary anyway, for the position that a standby must have.
    assume: (live, tokenHash) => (readServers.any ? undefined : state.assume(live, tokenHash)),
    ...readsOn({ address, dialect, state, lanes, readServers }),
    async *stream(statement) {
      await using pool = new StorePool(address);
      using loan = await borrow(pool);
      const fetch = () => loan.run(({ rows }) => rows(`FETCH ${ROWS_PER_FETCH} FROM rows`));
      await loan.run(({ run }) => run(SNAPSHOT));
      await loan.run(({ run }) => run(sql`DECLARE rows NO SCROLL CURSOR FOR ${statement}`));
      for (let rows = await fetch(); rows.length > 0; rows = await fetch()) yield* rows;
    },

    horizon: () => state.horizon(),
    noteTimestamp: (milliseconds) => state.noteTimestamp(milliseconds),
    listen: listenAt(address),

    viewState: (model, layout) => withSession(writing, (session) => viewState(session, model, layout)),
    makeView: (session, model, layout) => repairView(session, model, layout),
    columns: () => withSession(lanes.searches, readColumns),
    fileFaults: (model) => withSession(lanes.searches, (session) => findFileFaults(session, model)),
    mendFile: (model) => [(session) => completeStore(session, name, model), ...reindexings(model)],

    async facts(session) {
      const [size] = await session.rows(SIZE);
      const { layout } = await readMeta(session, 'layout');
      const systems = await readSystems(session);
      const apart = partitions && { partitions: { by: partitions, systems: systems?.size ?? 0 } };
      return { engine: 'postgres', layout, ...apart, bytes: Number(size?.bytes) };
    },
    /** The backup is an SQLite store. */
    async backup(file, onProgress) {
      const from = await postgresTables(options.address);
      try {
        await options.writeBackup(file, from, { source: name, onProgress });
      } finally {
        await from.close();
      }
    },
    damageIn,
    explain: (error) => translateError(error, address, 0),
    async close() {
      state.end();
      await Promise.all([lanes.end(), readServers.end(), writing.close()]);
    },
  };
}

const SIZE = sql`SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')`;

/** The number of rows per fetch: a stream reads one snapshot in portions. */
const ROWS_PER_FETCH = 500;
