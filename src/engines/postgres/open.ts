import { type EngineOptions, trustOf } from '../../store/engine.ts';
import { openOn } from '../../store/engine-store.ts';
import { readMeta } from '../../store/meta.ts';
import type { WriteBackup } from '../../store/raw-tables.ts';
import type { PartitionField, Store } from '../../store/store.ts';
import { type PostgresAddress, postgresAddress } from './connection/address.ts';
import { connectLanes, PATIENCE, type Patience, StorePool } from './connection/connect.ts';
import { withSession } from './connection/session.ts';
import { openingError } from './connection/unreached.ts';
import { ReadServers } from './standbys/read-servers.ts';
import { postgresEngine } from './store.ts';
import { isPrepared, prepareStore } from './tables/create.ts';
import { type StampClock, stampClock } from './writing/stamp-clock.ts';
import { writerOn } from './writing/writer.ts';

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
  readonly patience?: Partial<Patience>;
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
  const address = postgresAddress(options.address);
  const { writeBackup } = options;
  const clock = stampClock(options.clock, trustOf(options));
  const patience = { ...PATIENCE, ...options.patience };
  const { write: statement, connect } = patience;
  try {
    await using taken = new AsyncDisposableStack();
    const ended = <T extends { end(): Promise<void> }>(pools: T): T => taken.adopt(pools, () => pools.end());
    const writing = ended(new StorePool(address, { most: 1, pipeline: false, statement, connect }));
    if (!(await withSession(writing, (session) => isPrepared(session, address, options))))
      await prepare(address, options, clock);
    const { secret, partitions } = await withSession(writing, (session) =>
      readMeta(session, 'secret', 'partitions'),
    );
    const isPartitioned = partitions !== undefined;
    const writer = writerOn(writing, clock, isPartitioned, options.limits);
    const { addresses = [], lag = 0 } = options.readStores ?? {};
    const readServers = ended(new ReadServers(addresses.map(postgresAddress), lag, secret, patience));
    await readServers.open();
    const lanes = ended(connectLanes(address, patience));
    if (options.warm === true) await lanes.warm();
    const engine = postgresEngine({
      ...{ address, secret, isPartitioned, clock, writing, writer, lanes, readServers, writeBackup },
    });
    taken.move(); // the store closes them, also if it cannot be made
    return await openOn(engine);
  } catch (error) {
    throw openingError(error, address);
  }
}

/** Uses a separate connection without a time limit, since a migration may take long. */
async function prepare(
  address: PostgresAddress,
  options: PostgresStoreOptions,
  clock: StampClock,
): Promise<void> {
  const { connect = PATIENCE.connect } = options.patience ?? {};
  const pool = new StorePool(address, { most: 1, pipeline: false, connect });
  try {
    await prepareStore(pool, address, options, clock);
  } finally {
    await pool.end();
  }
}
