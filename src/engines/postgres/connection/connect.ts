import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { platError } from '../../../errors/index.ts';
import { FairQueue } from '../../../shared/fair-queue.ts';
import { within } from '../../../shared/within.ts';
import type { PostgresAddress } from './address.ts';
import { isWithoutConnections } from './errors.ts';
import { SILENT } from './unresponsive.ts';

/** How long a server is waited for, in milliseconds. */
export interface Patience {
  /** For a connection, free or new. */
  readonly connect: number;
  /** For what every request asks beside: its key, the state of the store. */
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
  /** Whether statements are sent without waiting for the answers of those before. */
  readonly pipeline: boolean;
  /** Milliseconds that the server gives a statement which is not given its own time; absent: as many as it takes. */
  readonly statement?: number;
  /** How long a connection is waited for, free or new, in milliseconds. */
  readonly connect?: number;
}

/** A pool of connections whose statements find the tables and functions of one store. */
export function connectPool(address: PostgresAddress, options: PoolOptions): Pool {
  const { least = 0, most, pipeline, statement = 0, connect = PATIENCE.connect } = options;
  const config: PoolConfig = {
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
  };
  const pool = new Pool(config);
  const lent = new Set<PoolClient>();
  pool.on('acquire', (client) => lent.add(client));
  pool.on('release', (_error, client) => lent.delete(client));
  lentBy.set(pool, lent);
  // A connection that is lost while nobody uses it is replaced by the pool; those in use tell their users.
  pool.on('error', () => undefined);
  // One that is lost between two statements tells with the next.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The connections of each pool that are in use. */
const lentBy = new WeakMap<Pool, ReadonlySet<PoolClient>>();

/** Milliseconds for what is soon done anyway. */
const SOON = 250;

/**
 * Ends a pool. Nobody needs the answers of statements that still run: their connections are broken off, and the server
 * rolls back what they have not committed. Who waits for a connection gets none.
 */
export async function endPool(pool: Pool): Promise<void> {
  const ended = pool.end();
  queues.get(pool)?.close(() => platError('storeUnavailable', {}));
  if (!(await within(SOON, ended))) {
    for (const { connection } of lentBy.get(pool) ?? []) connection.stream.destroy();
  }
  await ended;
}

/** Milliseconds that the server gives each statement on a connection of the pool; 0: as many as it takes. */
export function limitOf({ options: { statement_timeout: limit } }: Pool): number {
  return typeof limit === 'number' ? limit : 0;
}

/** How long a statement on a connection of the pool may keep silent, in milliseconds. */
export function patienceOf(pool: Pool): number {
  const limit = limitOf(pool);
  return limit > 0 ? limit + SILENT : Number.POSITIVE_INFINITY;
}

/** Requests that may wait for a connection; more are refused, so that a crowd is told to come back. */
const LONGEST_QUEUE = 500;

/** Seconds after which a request that was refused may come back. */
const COME_BACK = 5;

/** Who waits for the connections of each pool. */
const queues = new WeakMap<Pool, FairQueue>();

function queueOf(pool: Pool): FairQueue {
  const known = queues.get(pool);
  if (known !== undefined) return known;
  const { max, connectionTimeoutMillis: patience } = pool.options;
  const bounds = { turns: max, waiting: LONGEST_QUEUE, long: true };
  const queue = new FairQueue(patience === undefined ? bounds : { ...bounds, patience });
  queues.set(pool, queue);
  return queue;
}

/** How many wait for a connection of a pool. */
export const waitingFor = (pool: Pool): number => (queues.get(pool)?.waiting ?? 0) + pool.waitingCount;

/** Who takes connections where nobody says so: what a store does by itself. */
const NOBODY = '';

/**
 * A connection of a pool, which goes back with `release`.
 * @param name for whom; the connections are shared out fairly between the names
 * @throws PlatError `overloaded` when all connections are in use, and stay so
 */
export async function takeConnection(pool: Pool, name = NOBODY): Promise<PoolClient> {
  if (name === NOBODY) return connectionOf(pool);
  const turn = await queueOf(pool).enter(name);
  try {
    const client = await connectionOf(pool);
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

async function connectionOf(pool: Pool): Promise<PoolClient> {
  const refused = () => platError('overloaded', { seconds: COME_BACK }, { retryAfter: COME_BACK });
  if (pool.waitingCount >= LONGEST_QUEUE) throw refused();
  const deadline = performance.now() + (pool.options.connectionTimeoutMillis ?? 0);
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      // All connections of this process are in use, where the server would still give others.
      if (pool.totalCount >= pool.options.max && isWaitingTooLong(error)) throw refused();
      // The server gives no others: one of this process comes back, or one of another process ends.
      if (!isWithoutConnections(error) || performance.now() >= deadline) throw error;
      await setTimeout(PAUSE);
    }
  }
}

/** Milliseconds until a server that has no connections left is asked again. */
const PAUSE = 50;

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
