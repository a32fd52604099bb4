import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { platError } from '../../../errors/index.ts';
import { FairQueue } from '../../../shared/fair-queue.ts';
import { within } from '../../../shared/within.ts';
import type { Lane } from '../../../store/lanes.ts';
import type { PostgresAddress } from './address.ts';
import { isWithoutConnections } from './errors.ts';
import { watchRows } from './row-bytes.ts';
import { SILENT } from './unresponsive.ts';

/** How long a server is waited for, in milliseconds. */
export interface Patience {
  /** For a connection, free or new. */
  readonly connect: number;
  /** For the reads of every request: its key, the state of the store. */
  readonly small: number;
  /** For statements of a write transaction. */
  readonly write: number;
  /** For what goes through whole tables, or makes indexes. */
  readonly large: number;
}

export const PATIENCE: Patience = { connect: 5000, small: 10_000, write: 60_000, large: 3_600_000 };

/** Milliseconds after which a connection that nobody needs is closed. */
const IDLE = 60_000;

/** Milliseconds of silence after which a host is asked whether it is still there. */
const KEEP_ALIVE = 30_000;

interface PoolOptions {
  /** Connections that stay, though nobody needs them; 0 if it is not said. */
  readonly least?: number;
  readonly most: number;
  /** Whether statements are sent without waiting for the responses of those before. */
  readonly pipeline: boolean;
  /** The time limit of a statement without one of its own, in milliseconds; absent: unlimited. */
  readonly statement?: number;
  /** How long a connection is waited for, free or new, in milliseconds. */
  readonly connect?: number;
}

/** Milliseconds for what is soon done anyway. */
const SOON = 250;

/** The number of requests that may wait for a connection; more are rejected, so that clients retry later. */
const LONGEST_QUEUE = 500;

/** Seconds after which a rejected request may be retried. */
const COME_BACK = 5;

/** Milliseconds until a server that has no connections left is asked again. */
const PAUSE = 50;

/** A pool of connections whose statements find the tables and functions of one store. */
export class StorePool extends Pool {
  /** The time limit of each statement, in milliseconds; 0: unlimited. */
  readonly limit: number;
  readonly #connect: number;
  /** Who waits for a connection by name. */
  readonly #queue: FairQueue;
  /** The connections that are in use. */
  readonly #lent = new Set<PoolClient>();

  constructor(address: PostgresAddress, options: PoolOptions) {
    const { least = 0, most, pipeline, statement = 0, connect = PATIENCE.connect } = options;
    super({
      connectionString: address.connectionString,
      min: least,
      max: most,
      pipeline,
      connectionTimeoutMillis: connect,
      idleTimeoutMillis: IDLE,
      statement_timeout: statement,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE,
      fallback_application_name: 'plat',
      // Statements of plat are wide and short: compiling them takes longer than running them. One keeps one processor busy,
      // so that a turn at the server's processors is one.
      options: `-c jit=off -c max_parallel_workers_per_gather=0 ${address.options} -c search_path=${address.schema},pg_catalog -c extra_float_digits=1`,
      types: { getTypeParser: parserOf },
    });
    this.limit = statement;
    this.#connect = connect;
    this.#queue = new FairQueue({ turns: most, waiting: LONGEST_QUEUE, long: true, patience: connect });
    this.on('acquire', (client) => this.#lent.add(client));
    this.on('release', (_error, client) => this.#lent.delete(client));
    // The pool replaces a connection that is lost while idle; connections in use report the loss to their users.
    this.on('error', () => undefined);
    // One that is lost between two statements tells with the next.
    this.on('connect', (client) => {
      client.on('error', () => undefined);
      watchRows(client);
    });
  }

  /** How long a statement may keep silent, in milliseconds. */
  get patience(): number {
    return this.limit > 0 ? this.limit + SILENT : Number.POSITIVE_INFINITY;
  }

  /** How many wait for a connection. */
  get waiting(): number {
    return this.#queue.waiting + this.waitingCount;
  }

  /**
   * Ends the pool. Nobody needs the responses of statements that still run: their connections are interrupted, and the
   * server rolls back what they have not committed. Who waits for a connection gets none.
   */
  async close(): Promise<void> {
    const ended = this.end();
    this.#queue.close(() => platError('storeUnavailable', {}));
    if (!(await within(SOON, ended))) {
      for (const { connection } of this.#lent) connection.stream.destroy();
    }
    await ended;
  }

  /**
   * A connection, which goes back with `release`.
   * @param name for whom; the connections are shared out fairly between the names. Absent: for the store itself
   * @throws PlatError `overloaded` when all connections are in use, and stay so
   */
  async take(name?: string): Promise<PoolClient> {
    if (name === undefined) return this.#take();
    const turn = await this.#queue.enter(name);
    try {
      const client = await this.#take();
      const { release } = client;
      client.release = (error) => {
        release.call(client, error);
        turn.end();
      };
      return client;
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  async #take(): Promise<PoolClient> {
    const refused = () => platError('overloaded', { seconds: COME_BACK }, { retryAfter: COME_BACK });
    if (this.waitingCount >= LONGEST_QUEUE) throw refused();
    const deadline = performance.now() + this.#connect;
    for (;;) {
      try {
        return await this.connect();
      } catch (error) {
        // All connections of this process are in use, where the server would still give others.
        if (this.totalCount >= this.options.max && isWaitingTooLong(error)) throw refused();
        // The server has no more connections: one of this process is released, or one of another process ends.
        if (!isWithoutConnections(error) || performance.now() >= deadline) throw error;
        await setTimeout(PAUSE);
      }
    }
  }
}

const isWaitingTooLong = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('timeout exceeded');

/** Object ids of types (PostgreSQL, `pg_type`). */
const BOOLEAN = 16;
const NUMBERS = new Set([20, 21, 23, 700, 701, 1700]);

type Parser = (value: never) => unknown;

const asIs: Parser = (value: unknown) => value;
const asNumber: Parser = (value: unknown) => Number(value);
const asBoolean: Parser = (value: unknown) => value === 't';

/** Numbers of every size are JavaScript's; all that is no number and no truth value stays text. */
function parserOf(type: number, format?: string): Parser {
  if (format === 'binary') return asIs;
  if (type === BOOLEAN) return asBoolean;
  return NUMBERS.has(type) ? asNumber : asIs;
}

/** The connections by which a process reads from a server. */
export interface Lanes extends Readonly<Record<Lane, StorePool>> {
  /** Who may keep the server at work: absent for what is soon done. */
  readonly work: Readonly<Partial<Record<Lane, FairQueue>>>;
  /** For the reads of every request: a page that is being read holds its connection, and must not wait for another. */
  readonly small: StorePool;
  /** Opens one connection of each, which stays: none is then without, when the server has no more to give. */
  warm(): Promise<void>;
  end(): Promise<void>;
}

/** Small statements take no longer than the way to the server and back, so a few connections do for thousands a second. */
const SMALL = 4;
const RECORDS = 4;

/**
 * Turns at the processors of a server: as many as it has, and half of them for one name, so that what is soon done never
 * waits for a processor that one name keeps busy.
 */
function turnsAt(processors: number, patience: number): FairQueue {
  const alone = Math.max(1, Math.floor(processors / 2));
  return new FairQueue({
    turns: Math.max(2, processors),
    long: true,
    alone,
    waiting: LONGEST_QUEUE,
    patience,
  });
}

export function connectLanes(address: PostgresAddress, { small, large, connect }: Patience): Lanes {
  const most = Math.max(1, Math.floor(address.connections / 3));
  const lane = (connections: number, statement: number): StorePool =>
    new StorePool(address, { least: 1, most: connections, pipeline: true, statement, connect });
  const pools = {
    records: lane(RECORDS, large),
    pages: lane(address.connections - most, large),
    searches: lane(most, large),
    small: lane(SMALL, small),
  };
  const turns = turnsAt(address.processors, connect);
  const end = async (): Promise<void> => {
    turns.close(() => platError('storeUnavailable', {}));
    await Promise.all(Object.values(pools).map((pool) => pool.close()));
  };
  const warm = async (): Promise<void> => {
    // What cannot be opened now is opened when it is needed.
    await Promise.allSettled(Object.values(pools).map(async (pool) => (await pool.connect()).release()));
  };
  return { ...pools, work: { pages: turns, searches: turns }, warm, end };
}
