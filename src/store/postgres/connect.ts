import { Pool, type PoolConfig } from 'pg';
import type { PostgresAddress } from './address.ts';

/** How long a free connection is waited for, in milliseconds. */
export const CONNECT_PATIENCE = 5000;

/** Milliseconds after which a connection that nobody needs is closed. */
const IDLE = 60_000;

export interface PoolOptions {
  readonly most: number;
  /** Whether statements are sent without waiting for the answers of those before. */
  readonly pipeline: boolean;
}

/** A pool of connections whose statements find the tables and functions of one store. */
export function connectPool(address: PostgresAddress, { most, pipeline }: PoolOptions): Pool {
  const config: PoolConfig = {
    connectionString: address.connectionString,
    max: most,
    pipeline,
    connectionTimeoutMillis: CONNECT_PATIENCE,
    idleTimeoutMillis: IDLE,
    keepAlive: true,
    fallback_application_name: 'plat',
    // Statements of plat are wide and short: compiling them takes longer than running them.
    options: `-c search_path=${address.schema},pg_catalog -c jit=off -c extra_float_digits=1`,
    types: { getTypeParser: parserOf },
  };
  const pool = new Pool(config);
  // A connection that is lost while nobody uses it is replaced by the pool; those in use tell their users.
  pool.on('error', () => undefined);
  // One that is lost between two statements tells with the next.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

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
