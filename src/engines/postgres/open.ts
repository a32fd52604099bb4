import type { StoreSettings } from '../../records/settings.ts';
import type { Clock } from '../../store/clock.ts';
import { type ClockTrust, thisMachine } from '../../store/clock-jump.ts';
import { openOn } from '../../store/engine-store.ts';
import { readMeta } from '../../store/meta.ts';
import type { WriteBackup } from '../../store/raw-tables.ts';
import type { PartitionField, Store } from '../../store/store.ts';
import type { WriteLimits } from '../../store/write/in-time.ts';
import { type PostgresAddress, postgresAddress } from './connection/address.ts';
import { connectLanes, PATIENCE, type Patience, StorePool } from './connection/connect.ts';
import { withSession } from './connection/session.ts';
import { openingError } from './connection/unreached.ts';
import { ReadServers } from './standbys/read-servers.ts';
import { postgresEngine } from './store.ts';
import { prepareStore } from './tables/create.ts';
import { type StampClock, stampClock } from './writing/stamp-clock.ts';
import { writerOn } from './writing/writer.ts';

export interface PostgresStoreOptions extends ClockTrust {
  /** `postgres://…` (address.ts). */
  readonly address: string;
  /** What a new store is made with; absent: there must be one. */
  readonly create?: StoreSettings;
  /** Called when there was none, and one was made. */
  readonly onCreate?: (() => void) | undefined;
  /** By what the large tables of a new store are laid apart; one that is there must be so. */
  readonly partitions?: PartitionField;
  /** The clock that stamps; absent: the server's own, which all processes share. */
  readonly clock?: Clock;
  /** Servers that follow this one, to be read from in its place. */
  readonly readStores?: ReadStoreOptions;
  /** How long the server is waited for; each has its usual value. */
  readonly patience?: Partial<Patience>;
  /** How long transactions may take; a test has others. */
  readonly limits?: WriteLimits;
  /** Writes a whole store to a new file, in the form of the embedded engine. */
  readonly writeBackup: WriteBackup;
}

export interface ReadStoreOptions {
  /** `postgres://…`, of streaming standbys; one that was promoted is omitted. */
  readonly addresses: readonly string[];
  /** How long a reading waits for one that is behind, in milliseconds; then it is omitted until it keeps up. */
  readonly lag: number;
}

/** Opens (or makes) the store on a server. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = postgresAddress(options.address);
  const { writeBackup, machine = options.clock === undefined ? thisMachine() : undefined } = options;
  const clock = stampClock(options.clock, { ...options, machine });
  const patience = { ...PATIENCE, ...options.patience };
  const { write: statement, connect } = patience;
  try {
    await using taken = new AsyncDisposableStack();
    const ended = <T extends { end(): Promise<void> }>(pools: T): T => taken.adopt(pools, () => pools.end());
    const writing = ended(new StorePool(address, { most: 1, pipeline: false, statement, connect }));
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
    await lanes.warm();
    const engine = postgresEngine({
      ...{ address, secret, isPartitioned, clock, writing, writer, lanes, readServers, writeBackup },
    });
    const store = await openOn(engine);
    taken.move(); // the store ends them
    return store;
  } catch (error) {
    throw openingError(error, address);
  }
}

/** On a connection of its own, on which a migration takes as long as it needs. */
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
