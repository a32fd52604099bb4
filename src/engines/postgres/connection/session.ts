import { hash } from 'node:crypto';
import type { PoolClient, QueryResult } from 'pg';
import { type BoundValue, render, type Sql, type Statement } from '../../../compile/fragment.ts';
import { BoundedCache } from '../../../shared/bounded-cache.ts';
import type { Slots } from '../../../store/read-steps.ts';
import type { Row, Session } from '../../../store/session.ts';
import { postgresDialect } from '../dialect.ts';
import type { StorePool } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { SILENT, type Watch, watch } from './unresponsive.ts';

/** What can be bound to a statement. */
export type Bindable = string | number | boolean | null | Buffer | readonly (string | number | null)[];

/** A session on a server, with operations that only the driver's connection offers. */
export interface ServerSession extends Session {
  readonly client: PoolClient;
  rows(statement: Sql): Promise<readonly Row[]>;
  rows(text: string, values?: readonly Bindable[]): Promise<readonly Row[]>;
  run(statement: Sql): Promise<number>;
  run(text: string, values?: readonly Bindable[]): Promise<number>;
  /** Ends the connection when the server does not respond. */
  readonly watch: Watch;
}

/** Work on a session before its connection is released, such as the end of a transaction. */
type Ending = (session: ServerSession) => Promise<unknown>;

/** How a connection is lent. */
interface Lending {
  /** The time limit of each statement in milliseconds; absent: that of the pool. */
  readonly milliseconds?: number | undefined;
  /** Milliseconds without any byte from the server after which the connection is closed. */
  readonly patience?: number | undefined;
  /** See `endWith`. */
  readonly ending?: Ending;
  /** The caller, as in `StorePool.take`. */
  readonly name?: string | undefined;
  /** Called when the connection is released. */
  readonly returned?: () => void;
}

/**
 * A connection of a pool, for as long as a scope holds it: `using loan = await borrow(pool)`. This is the only place
 * that releases connections: whatever throws in the scope, the connection returns to its pool when the scope is left. A
 * connection that was lost, or that is still inside a transaction then, is closed and not used again.
 */
export class Loan implements Disposable {
  readonly #client: PoolClient;
  readonly #watch: Watch;
  readonly #lending: Lending;
  #ending: Ending | undefined;
  readonly #session: ServerSession;
  #isLost = false;

  constructor(client: PoolClient, watching: Watch, lending: Lending) {
    this.#client = client;
    this.#watch = watching;
    this.#lending = lending;
    this.#ending = lending.ending;
    this.#session = sessionOn(client, watching);
  }

  /** Starts some work before the connection is released, without waiting for it. */
  endWith(ending: Ending): void {
    this.#ending = ending;
  }

  /** Works on the connection. An error that is thrown synchronously becomes a rejection. */
  async run<T>(work: (session: ServerSession) => Promise<T>): Promise<T> {
    try {
      return await work(this.#session);
    } catch (error) {
      this.#isLost ||= isUnavailable(error);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    const ending = this.#ending;
    if (ending === undefined) this.#giveBack();
    else void this.#endLater(ending);
  }

  async #endLater(ending: Ending): Promise<void> {
    if (!this.#isLost) {
      await this.run(ending).catch(() => {
        this.#isLost = true;
      });
    }
    this.#giveBack();
  }

  #giveBack(): void {
    const client = this.#client;
    this.#watch.end();
    const isOpen = client.getTransactionStatus() !== IDLE;
    client.release(this.#isLost || isOpen || isFull(client));
    this.#lending.returned?.();
  }
}

/** The transaction status of an idle connection, which the server reports with every response. */
const IDLE = 'I';

/** The current time limit of the statements of each connection, if it differs from that of its pool; milliseconds. */
const limits = new WeakMap<PoolClient, number>();

/** Sets the time limit before the first statement with another one; nearly all reads of a process have the same. */
function limitStatements(client: PoolClient, milliseconds: number, usual: number): void {
  if (milliseconds === (limits.get(client) ?? usual)) return;
  limits.set(client, milliseconds);
  // If this statement fails, the next one fails as well and reports the error.
  client.query(`SET statement_timeout = ${milliseconds}`).catch(() => limits.delete(client));
}

/**
 * The number of statements that a connection keeps prepared. Beyond it, the oldest is replaced, which frees memory of the server.
 */
const MOST = 400;

/** The names of statements, by text. */
const names = new BoundedCache<string>('names of statements', { entries: 2000, bytes: 16 * 1024 * 1024 });
const prepared = new WeakMap<PoolClient, Set<string>>();

/** The name of a prepared statement; the same text always has the same name. */
export function keepPrepared(client: PoolClient, text: string): string {
  const name = nameOf(text);
  const kept = prepared.get(client);
  if (kept === undefined) prepared.set(client, new Set([name]));
  else kept.add(name);
  return name;
}

const isFull = (client: PoolClient): boolean => (prepared.get(client)?.size ?? 0) > MOST;

/** Bytes of a name. */
const NAME = 40;

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const made = hash('sha256', text, 'base64url').slice(0, 22);
  return names.put(text, made, NAME);
}

/** Borrows a connection of a pool. */
export async function borrow(pool: StorePool, lending: Lending = {}): Promise<Loan> {
  const client = await pool.take(lending.name);
  try {
    const { milliseconds } = lending;
    const limit = milliseconds === undefined ? pool.limit : Math.max(1, Math.round(milliseconds));
    limitStatements(client, limit, pool.limit);
    return new Loan(client, watch(client, lending.patience ?? pool.patience), lending);
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Statements with values recur, so the server keeps them prepared; those without are run once, or change tables. */
function sessionOn(client: PoolClient, watch: Watch): ServerSession {
  const query = async (statement: Sql | string, given?: readonly Bindable[]): Promise<QueryResult<Row>> => {
    if (typeof statement !== 'string') {
      const rendered = render(statement, postgresDialect.placeholder);
      const values = rendered.values.length === 0 ? undefined : bindings(rendered);
      return query(rendered.text, values);
    }
    return given === undefined
      ? client.query<Row>(statement)
      : client.query<Row>({ name: keepPrepared(client, statement), text: statement, values: [...given] });
  };
  return {
    dialect: postgresDialect,
    client,
    watch,
    rows: async (statement: Sql | string, values?: readonly Bindable[]) =>
      (await query(statement, values)).rows,
    run: async (statement: Sql | string, values?: readonly Bindable[]) =>
      (await query(statement, values)).rowCount ?? 0,
  };
}

/** Works on a connection of a pool. @param patience as in `Lending` */
export async function withSession<T>(
  pool: StorePool,
  work: (session: ServerSession) => Promise<T>,
  patience?: number,
): Promise<T> {
  using loan = await borrow(pool, { patience });
  return await loan.run(work);
}

/** Begins a read-only transaction on one snapshot. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Works in a transaction, which is committed, or rolled back if the work throws. @param begin the statement that begins it */
export async function inTransaction<T>(
  { run }: ServerSession,
  work: () => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  await run(begin);
  try {
    const result = await work();
    await run('COMMIT');
    return result;
  } catch (error) {
    // If the connection is lost, the server has already rolled back.
    await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Gives a transaction more time for each of its statements, in milliseconds. */
export async function allow({ run, watch }: ServerSession, milliseconds: number): Promise<void> {
  await run(`SET LOCAL statement_timeout = ${milliseconds}`);
  watch.allow(milliseconds + SILENT);
}

/**
 * Represents the NUL character, which PostgreSQL's texts cannot contain, in bound values; no stored text contains this character.
 */
const NO_CHARACTER = '\u{10ffff}';

/** The values of a statement, for `pg`. */
export function bindings({ values }: Statement, slots: Slots = {}): (BoundValue | readonly string[])[] {
  return values.map((value) => {
    if (typeof value !== 'object' || value === null) return storable(value);
    return 'texts' in value ? value.texts.map(withoutNul) : storable(slots[value.slot] ?? null);
  });
}

const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', NO_CHARACTER) : text;
const storable = (value: BoundValue): BoundValue => (typeof value === 'string' ? withoutNul(value) : value);

/** A session for single statements, each on any idle connection of a pool. */
export const sessionOf = (pool: StorePool): Session => ({
  dialect: postgresDialect,
  rows: (statement) => withSession(pool, ({ rows }) => rows(statement)),
  run: (statement) => withSession(pool, ({ run }) => run(statement)),
});
