import { setTimeout } from 'node:timers/promises';
import { Client, Pool, type PoolClient } from 'pg';
import { platError } from '../../../errors/index.ts';
import { FairQueue, overloadedError } from '../../../shared/fair-queue.ts';
import { retryTransient } from '../../../shared/retry-transient.ts';
import { settlesWithin } from '../../../shared/settles-within.ts';
import type { Lane } from '../../../store/read/lanes.ts';
import { KnownTakeovers } from '../../../store/state/takeovers.ts';
import type { PostgresAddress } from './address.ts';
import { isWithoutConnections } from './errors.ts';
import { openSocket, watchRows } from './row-bytes.ts';

/** Timeouts for a server, in milliseconds. */
export interface Timeouts {
  /** How long to wait for a connection, idle or new. */
  readonly connect: number;
  /** For the small reads of every request: its key and the state of the store. */
  readonly small: number;
  /** For statements of a write transaction. */
  readonly write: number;
  /** For statements that scan whole tables or create indexes. */
  readonly large: number;
}

export const TIMEOUTS: Timeouts = { connect: 5000, small: 10_000, write: 60_000, large: 3_600_000 };

/** Milliseconds after which an idle connection is closed. */
const IDLE = 60_000;

/** Milliseconds without traffic after which TCP keepalive probes the host. */
const KEEP_ALIVE = 30_000;

interface PoolOptions {
  /** The maximum number of connections; 1 by default. */
  readonly most?: number;
  /** Whether one connection is kept open, and statements are sent without waiting for the responses to earlier ones. */
  readonly isLane?: boolean;
  /** The default time limit of a statement in milliseconds; absent: unlimited. */
  readonly statement?: number;
  /** How long to wait for a connection, idle or new, in milliseconds. */
  readonly connect?: number;
  /** How many times to wait for that long while this process uses all of its connections; 1 by default. */
  readonly waits?: number;
}

/** `waits` for a command: nothing retries it, so it must not fail because its own parallel reads use all connections for long. */
export const WAITS_OF_COMMAND = 60;

/** Milliseconds in which short statements may still finish. */
const CLOSE_GRACE_PERIOD = 250;

/** The number of requests that may wait for a connection; further ones are rejected, so that clients retry later. */
const LONGEST_QUEUE = 500;

/** Milliseconds between two attempts to connect to a server that has reached its connection limit. */
const CONNECT_RETRY_INTERVAL = 50;

const NO_LIMITS =
  '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0';

/**
 * Lets the server probe the host of a connection as well, so that it notices within a minute that the host is gone. Platforms without
 * these settings ignore them.
 */
const SERVER_KEEP_ALIVE = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3';

/**
 * Lets the server look every second during a statement whether the connection has been closed, and end the statement then: that of a
 * process that has died would run for its whole time limit. A server on Windows cannot do this, and would refuse the setting.
 */
const WATCH_CONNECTION = `SELECT set_config('client_connection_check_interval', '1s', false) WHERE version() !~* 'windows|mingw|visual'`;

/** Why each connection was lost between two statements: the next one reports only that it cannot be sent. */
export const losses = new WeakMap<PoolClient, Error>();

/** A pool of connections whose search path contains the tables and functions of one store. */
export class StorePool extends Pool {
  /** The time limit of each statement, in milliseconds; 0: unlimited. */
  readonly limit: number;
  /** The store's name in messages. */
  readonly store: string;
  /** The takeovers that the readers and the writer of a store have seen. */
  readonly takeovers = new KnownTakeovers();
  readonly #connect: number;
  readonly #waits: number;
  /** Distributes connections fairly among callers. */
  readonly queue: FairQueue;
  /** The open connections, and those that are in use. */
  readonly #open = new Set<PoolClient>();
  readonly #lent = new Set<PoolClient>();

  constructor(address: PostgresAddress, options: PoolOptions = {}) {
    const { most = 1, isLane = false, statement = 0, connect = TIMEOUTS.connect, waits = 1 } = options;
    super({
      connectionString: address.connectionString,
      min: isLane ? 1 : 0,
      max: most,
      pipeline: isLane,
      connectionTimeoutMillis: connect,
      idleTimeoutMillis: IDLE,
      statement_timeout: statement,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE,
      fallback_application_name: 'plat',
      stream: openSocket,
      // plat's statements are wide and short: JIT compilation would take longer than running them. Parallel query is off, so that a
      // statement occupies one processor, which corresponds to a turn in the queue.
      // Time limits of the role or the database would end long work of plat, which has its own.
      options: `-c jit=off -c max_parallel_workers_per_gather=0 ${NO_LIMITS} ${SERVER_KEEP_ALIVE} ${address.options} -c search_path=${address.schema},pg_catalog -c extra_float_digits=1`,
      types: { getTypeParser: (type: number) => PARSERS.get(type) ?? asIs },
    });
    this.limit = statement;
    this.store = address.name;
    this.#connect = connect;
    this.#waits = waits;
    this.queue = new FairQueue({ turns: most, waiting: LONGEST_QUEUE, long: true, patience: connect });
    this.on('acquire', (client) => this.#lent.add(client));
    this.on('release', (_error, client) => this.#lent.delete(client));
    this.on('remove', (client) => this.#open.delete(client));
    // The pool replaces a connection that is lost while idle; connections in use report the loss to their users.
    this.on('error', () => undefined);
    // A connection that is lost between two statements reports the loss with the next one.
    this.on('connect', (client) => {
      this.#open.add(client);
      client.once('error', (error) => losses.set(client, error));
      client.on('error', () => undefined);
      watchRows(client);
      // A connection on which this fails has failed, as its user learns.
      Promise.try(() => client.query(WATCH_CONNECTION)).catch(() => undefined);
    });
  }

  get waiting(): number {
    return this.queue.waiting + this.waitingCount;
  }

  /** Whether the server is at work on what it was sent on a connection. If not, idle connections do not get there either. */
  async isAtWork(client: PoolClient): Promise<boolean> {
    const { connect } = TIMEOUTS;
    const other = new Client({ ...this.options, connectionTimeoutMillis: connect, query_timeout: connect });
    other.on('error', () => undefined);
    try {
      await other.connect();
      const port: unknown = Reflect.get(client.connection.stream, 'localPort') ?? -1;
      const { rowCount } = await other.query(IS_IDLE, [Reflect.get(client, 'processID'), port]);
      if (rowCount !== 0)
        for (const { connection } of this.#open.difference(this.#lent)) connection.stream.destroy();
      return rowCount === 0;
    } finally {
      other.connection.stream.destroy();
    }
  }

  /** Closes the pool: its connections are destroyed, the server rolls back, and callers that wait are rejected. */
  async close(): Promise<void> {
    const ended = this.end();
    this.queue.close(() => platError('storeUnavailable', {}));
    if (!(await settlesWithin(CLOSE_GRACE_PERIOD, ended))) {
      for (const { connection } of this.#lent) connection.stream.destroy();
    }
    await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Takes a connection, which `release` returns. @throws PlatError `overloaded` if all connections remain in use */
  async take(): Promise<PoolClient> {
    if (this.waitingCount >= LONGEST_QUEUE) throw overloadedError();
    const connected = async (): Promise<PoolClient> => {
      for (let waits = 1; ; waits++) {
        try {
          return await this.connect();
        } catch (error) {
          // This process has reached its own limit, although the server may accept more connections.
          if (this.totalCount < this.options.max || !isWaitingTooLong(error)) throw error;
          if (waits >= this.#waits) throw overloadedError();
        }
      }
    };
    // If the server has reached its connection limit, the attempt is repeated until a connection of this or another process is
    // released.
    const waiting = { passes: isWithoutConnections, patience: this.#connect, pause: CONNECT_RETRY_INTERVAL };
    return retryTransient(connected, { ...waiting, sleep: setTimeout });
  }
}

const isWaitingTooLong = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('timeout exceeded');

/** Selects a row if a process of the server waits for a statement. A proxy in between has other ports, and shows nothing. */
const IS_IDLE = `SELECT FROM pg_stat_activity WHERE pid = $1 AND client_port = $2 AND state LIKE 'idle%'`;

/** How values are parsed, by the object id of their type (`pg_type`): all but booleans and numbers remain texts. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  ...[20, 21, 23, 700, 701, 1700].map((type) => [type, Number] as const),
]);
const asIs = (text: string): unknown => text;

export interface Lanes extends Readonly<Record<Lane, StorePool>> {
  /** The queues for the server's processors; absent for short reads, which do not wait. */
  readonly work: Readonly<Partial<Record<Lane, FairQueue>>>;
  /** For the small reads of every request: a page that is being read must not wait for a second connection. */
  readonly small: StorePool;
  /**
   * Opens one connection per lane up front and keeps it, so that no lane is starved when the server reaches its connection limit.
   */
  openConnections(): Promise<void>;
  end(): Promise<void>;
}

/** A small statement takes about one round trip, so a few connections suffice for thousands of statements per second. */
const SMALL = 4;
const RECORDS = 4;

/** @param waits how many times a read without a caller waits for a connection (PoolOptions) */
export function connectLanes(
  address: PostgresAddress,
  { small, large, connect }: Timeouts,
  waits?: number,
): Lanes {
  const most = Math.max(1, Math.floor(address.connections / 3));
  const lane = (connections: number, statement: number): StorePool =>
    new StorePool(address, { most: connections, isLane: true, statement, connect, waits });
  const pools = {
    records: lane(RECORDS, large),
    pages: lane(address.connections - most, large),
    searches: lane(most, large),
    small: lane(SMALL, small),
  };
  // There are as many turns as processors, and half as many for one caller, so that short reads never wait for processors that one
  // caller occupies.
  const turns = new FairQueue({
    ...{ turns: Math.max(2, address.processors), alone: Math.max(1, Math.floor(address.processors / 2)) },
    ...{ long: true, waiting: LONGEST_QUEUE, patience: connect },
  });
  const end = async (): Promise<void> => {
    turns.close(() => platError('storeUnavailable', {}));
    await Promise.all(Object.values(pools).map((pool) => pool.close()));
  };
  const warm = async (): Promise<void> => {
    // A connection that cannot be opened now is opened when it is needed.
    await Promise.allSettled(Object.values(pools).map(async (pool) => (await pool.connect()).release()));
  };
  return { ...pools, work: { pages: turns, searches: turns }, openConnections: warm, end };
}
