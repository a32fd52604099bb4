import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { platError } from '../../../errors/index.ts';
import { FairQueue } from '../../../shared/fair-queue.ts';
import { within } from '../../../shared/within.ts';
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
  // The pool replaces a connection that is lost while idle; connections in use report the loss to their users.
  pool.on('error', () => undefined);
  // One that is lost between two statements tells with the next.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    watchRows(client);
  });
  return pool;
}

/** The connections of each pool that are in use. */
const lentBy = new WeakMap<Pool, ReadonlySet<PoolClient>>();

/** Milliseconds for what is soon done anyway. */
const SOON = 250;

/**
 * Ends a pool. Nobody needs the responses of statements that still run: their connections are interrupted, and the
 * server rolls back what they have not committed. Who waits for a connection gets none.
 */
export async function endPool(pool: Pool): Promise<void> {
  const ended = pool.end();
  queues.get(pool)?.close(() => platError('storeUnavailable', {}));
  if (!(await within(SOON, ended))) {
    for (const { connection } of lentBy.get(pool) ?? []) connection.stream.destroy();
  }
  await ended;
}

/** The time limit of each statement on a connection of the pool, in milliseconds; 0: unlimited. */
export function limitOf({ options: { statement_timeout: limit } }: Pool): number {
  return typeof limit === 'number' ? limit : 0;
}

/** How long a statement on a connection of the pool may keep silent, in milliseconds. */
export function patienceOf(pool: Pool): number {
  const limit = limitOf(pool);
  return limit > 0 ? limit + SILENT : Number.POSITIVE_INFINITY;
}

/** The number of requests that may wait for a connection; more are rejected, so that clients retry later. */
const LONGEST_QUEUE = 500;

/** Seconds after which a rejected request may be retried. */
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

/** The caller that acquires connections if none is named: the store itself. */
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
      // The server has no more connections: one of this process is released, or one of another process ends.
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
