import { hash } from 'node:crypto';
import { type PoolClient, Query, type QueryResult } from 'pg';
import { type BoundValue, render, type Sql, type Statement, valuesFor } from '../../../compile/fragment.ts';
import { BoundedCache } from '../../../shared/bounded-cache.ts';
import { memoizePerObject } from '../../../shared/memoize.ts';
import { startWatchdog, type Watchdog } from '../../../shared/watchdog.ts';
import type { Slots, StatementRequest } from '../../../store/read/read-steps.ts';
import type { Row, Session } from '../../../store/session.ts';
import { postgresDialect } from '../dialect.ts';
import { losses, type StorePool } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { cancelStatement, type ReceiveRow, receiveRows } from './row-bytes.ts';

/** A value that can be bound to a statement. */
export type Bindable = string | number | boolean | null | Buffer | readonly (string | number | null)[];

/** Runs statements on a server: those of the store, and texts for the driver. */
export interface Statements extends Session {
  /** @param values for a statement that is kept prepared; a text without them runs once, or changes tables */
  rows(statement: Sql | string, values?: readonly Bindable[]): Promise<readonly Row[]>;
  run(statement: Sql | string, values?: readonly Bindable[]): Promise<number>;
}

/** A session on a server, with operations that only the driver's connection offers. */
export interface ServerSession extends Statements {
  readonly client: PoolClient;
  /** Ends the connection when the server does not respond. */
  readonly watch: Watchdog;
}

type Work<T> = (session: ServerSession) => Promise<T>;

/** Options for borrowing a connection. */
interface LoanOptions {
  /** The time limit of each statement in milliseconds; absent: that of the pool. */
  readonly milliseconds?: number;
  /** The caller that waits in the pool's queue; absent: the store itself, which does not wait. */
  readonly name?: string | undefined;
}

/** A connection of a pool, until the scope that borrowed it ends. */
export interface Loan extends Disposable {
  /** Whether the connection has ended or is about to. */
  readonly isLost: boolean;
  /** Runs `work` on the connection. An error that it throws synchronously becomes a rejection. */
  run<T>(work: Work<T>): Promise<T>;
  /** Sets work, such as the end of a transaction, that starts when the scope is left, without waiting for it. */
  runAtEnd(ending: Work<unknown>): void;
  /** Cancels the current statement. The connection is closed afterwards: a late cancel must not hit the statement of another user. */
  cancel(): void;
}

/**
 * Borrows a connection of a pool: `using loan = await borrow(pool)`. This is the only place that releases connections: whatever the
 * scope throws, the connection returns to its pool when the scope is left. A connection that was lost, or that is still inside a
 * transaction then, is closed and not used again.
 */
export async function borrow(pool: StorePool, { milliseconds, name }: LoanOptions = {}): Promise<Loan> {
  using taken = new DisposableStack();
  if (name !== undefined) taken.use(await pool.queue.acquire(name));
  const client = await pool.take();
  let isLost = true; // until the loan is complete
  taken.defer(() => client.release(isLost || client.getTransactionStatus() !== IDLE || isFull(client)));
  const limit = milliseconds === undefined ? pool.limit : Math.max(1, Math.round(milliseconds));
  limitStatements(client, limit, pool.limit);
  const watching = startWatchdog(client.connection.stream, { limit, isAtWork: () => pool.isAtWork(client) });
  taken.defer(watching.end);
  const session = sessionOn(client, watching);
  isLost = false;
  const run = async <T>(work: Work<T>): Promise<T> => {
    try {
      return await work(session);
    } catch (error) {
      isLost ||= isUnavailable(error);
      throw isLost ? (losses.get(client) ?? error) : error;
    }
  };
  let ending: Work<unknown> | undefined;
  const held = taken.move();
  const giveBack = (): void => held.dispose();
  return {
    get isLost() {
      return isLost || losses.has(client);
    },
    run,
    runAtEnd(work) {
      ending = work;
    },
    cancel() {
      isLost = true;
      cancelStatement(client);
    },
    [Symbol.dispose]() {
      if (ending === undefined || isLost) return giveBack();
      // If the ending failed, the transaction status of the connection shows it.
      void run(ending).then(giveBack, giveBack);
    },
  };
}

/** The transaction status of an idle connection, which the server reports with every response. */
const IDLE = 'I';

/** The current time limit of the statements of each connection, if it differs from that of its pool; milliseconds. */
const limits = new WeakMap<PoolClient, number>();

/** Changes the time limit before the first statement that needs another one; nearly all reads of a process need the same. */
function limitStatements(client: PoolClient, milliseconds: number, usual: number): void {
  if (milliseconds === (limits.get(client) ?? usual)) return;
  limits.set(client, milliseconds);
  // If this statement fails, the next one fails as well and reports the error.
  client.query(`SET statement_timeout = ${milliseconds}`).catch(() => limits.delete(client));
}

/**
 * The number of statements that a connection keeps prepared. One with more is closed after use, which frees memory of the server.
 */
const MAX_PREPARED = 400;

/** The names of statements, by text. */
const names = new BoundedCache<string>('names of statements', { entries: 2000, bytes: 16 * 1024 * 1024 });
const preparedOn = memoizePerObject((_: PoolClient) => new Set<string>());

/** The name of a prepared statement; the same text always has the same name. */
export function prepareName(client: PoolClient, text: string): string {
  const name = nameOf(text);
  preparedOn(client).add(name);
  return name;
}

const isFull = (client: PoolClient): boolean => preparedOn(client).size > MAX_PREPARED;

/** The length of a name in bytes. */
const NAME_BYTES = 40;

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const made = hash('sha256', text, 'base64url').slice(0, 22);
  return names.put(text, made, NAME_BYTES);
}

/** A statement as it is sent; a name if it is kept prepared. */
export interface SentStatement {
  readonly text: string;
  readonly values?: readonly Bindable[] | undefined;
  readonly name?: string | undefined;
  /** Called before the rows of the next statement arrive, for which a promise would be too late. */
  readonly heard?: StatementRequest['heard'];
  /** Receives the rows as bytes, instead of the driver. */
  readonly receive?: ReceiveRow;
}

/**
 * Sends a statement. The driver receives its parts one by one: it would copy an object property by property, which takes longer than
 * everything else that it does.
 */
export function send(
  client: PoolClient,
  { text, values, name, heard, receive }: SentStatement,
): Promise<QueryResult<Row>> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult<Row>>();
  const query = new Query<Row>(text, values && [...values], (error, result) => {
    try {
      if (error) throw error;
      heard?.(result.rows);
      resolve(result);
    } catch (reason) {
      reject(reason);
    }
  });
  if (receive !== undefined) receiveRows(client, query, receive);
  client.query(Object.assign(query, { name }));
  return promise;
}

/** Statements with values recur, so the server keeps them prepared. */
function sessionOn(client: PoolClient, watch: Watchdog): ServerSession {
  const query = (statement: Sql | string, values?: readonly Bindable[]): Promise<QueryResult<Row>> => {
    if (typeof statement === 'string') {
      const name = values && prepareName(client, statement);
      return send(client, { text: statement, values, name });
    }
    const rendered = render(statement, postgresDialect.placeholder);
    return query(rendered.text, rendered.values.length === 0 ? undefined : bindings(rendered));
  };
  return {
    ...{ dialect: postgresDialect, client, watch },
    rows: async (...given) => (await query(...given)).rows,
    run: async (...given) => (await query(...given)).rowCount ?? 0,
  };
}

/** Runs `work` on a connection of a pool. */
export async function withSession<T>(pool: StorePool, work: Work<T>): Promise<T> {
  using loan = await borrow(pool);
  return await loan.run(work);
}

/** Begins a read-only transaction on one snapshot. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Gives a transaction more time for each of its statements, in milliseconds. */
export async function extendTimeLimit({ run, watch }: ServerSession, milliseconds: number): Promise<void> {
  await run(`SET LOCAL statement_timeout = ${milliseconds}`);
  watch.setTimeLimit(milliseconds);
}

/** Replaces the NUL character, which PostgreSQL's texts cannot contain, in bound values such as keys of paths. */
const NUL_SUBSTITUTE = '\u{10ffff}';

/** The values of a statement in the form that `pg` takes. */
export const bindings = (statement: Statement, slots: Slots = {}): (BoundValue | readonly string[])[] =>
  valuesFor<BoundValue | readonly string[]>(statement, slots, storable, (texts) => texts.map(withoutNul));

const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', NUL_SUBSTITUTE) : text;
const storable = (value: BoundValue): BoundValue => (typeof value === 'string' ? withoutNul(value) : value);

/** A session for single statements, each on any idle connection of a pool. */
export const poolSession = (pool: StorePool): Statements => ({
  dialect: postgresDialect,
  rows: (...given) => withSession(pool, ({ rows }) => rows(...given)),
  run: (...given) => withSession(pool, ({ run }) => run(...given)),
});
