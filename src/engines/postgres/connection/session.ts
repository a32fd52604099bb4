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

/** A session on a server, with what only the driver's connection does. */
export interface ServerSession extends Session {
  readonly client: PoolClient;
  rows(statement: Sql): Promise<readonly Row[]>;
  rows(text: string, values?: readonly Bindable[]): Promise<readonly Row[]>;
  run(statement: Sql): Promise<number>;
  run(text: string, values?: readonly Bindable[]): Promise<number>;
  /** Ends the connection when nothing is heard on it. */
  readonly watch: Watch;
}

/** Work on a session before its connection is released, such as the end of a transaction. */
type Ending = (session: ServerSession) => Promise<unknown>;

/** How a connection is lent. */
interface Lending {
  /** The time limit of each statement in milliseconds; absent: that of the pool. */
  readonly milliseconds?: number | undefined;
  /** Milliseconds without a sign of the server, after which the connection is given up. */
  readonly patience?: number | undefined;
  /** As of `endWith`. */
  readonly ending?: Ending;
  /** For whom, as of `StorePool.take`. */
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

  /** Does something before the connection is released, without waiting for it. */
  endWith(ending: Ending): void {
    this.#ending = ending;
  }

  /** Works on the connection. What it throws at once is a rejection like any other. */
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

/** Of a connection that is in no transaction, as the server says with every answer. */
const IDLE = 'I';

/** The time limit of each statement of a connection, if it is not that of the pool; milliseconds. */
const limits = new WeakMap<PoolClient, number>();

/** Sends the limit ahead of the first statement that has another one: nearly all readings of a process have the same. */
function limitStatements(client: PoolClient, milliseconds: number, usual: number): void {
  if (milliseconds === (limits.get(client) ?? usual)) return;
  limits.set(client, milliseconds);
  // A connection that does not take it takes no other statement either.
  client.query(`SET statement_timeout = ${milliseconds}`).catch(() => limits.delete(client));
}

/** Statements that a connection keeps prepared; then another takes its place, and the server's memory is free. */
const MOST = 400;

/** The names of statements, by their texts, which may be long. */
const names = new BoundedCache<string>('names of statements', { entries: 2000, bytes: 16 * 1024 * 1024 });
const prepared = new WeakMap<PoolClient, Set<string>>();

/** The name under which a connection keeps a statement: the same for the same text. */
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

/**
 * Statements with values come again and again, so the server keeps them prepared; those without are made once, or
 * change tables.
 */
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

/** Works on a connection of a pool. @param patience as of `Lending` */
export async function withSession<T>(
  pool: StorePool,
  work: (session: ServerSession) => Promise<T>,
  patience?: number,
): Promise<T> {
  using loan = await borrow(pool, { patience });
  return await loan.run(work);
}

/** Begins a transaction that reads one snapshot. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Works in a transaction, which is committed, or undone where something throws. @param begin the text that begins it */
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

/** No stored text holds this character, which stands for the one that PostgreSQL's texts cannot have. */
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

/** Statements by themselves, each on whatever connection of a pool is free. */
export const sessionOf = (pool: StorePool): Session => ({
  dialect: postgresDialect,
  rows: (statement) => withSession(pool, ({ rows }) => rows(statement)),
  run: (statement) => withSession(pool, ({ run }) => run(statement)),
});
