import type { Pool, PoolClient, QueryResult } from 'pg';
import type { BoundValue, Slot, Statement } from '../../sql/fragment.ts';
import { patienceOf, takeConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { isFull, keepPrepared } from './prepared.ts';
import { NO_WATCH, SILENT, type Watch, watch } from './silence.ts';

/** A row as the driver gives it: numbers, texts, truth values, or bytes where bytes were asked for. */
export type Row = Readonly<Record<string, unknown>>;

/** What can be bound to a statement. */
export type Bindable = string | number | boolean | null | Buffer | readonly (string | number | null)[];

/** One connection, for as long as somebody has it. */
export interface Session {
  readonly client: PoolClient;
  rows(text: string, values?: readonly Bindable[]): Promise<readonly Row[]>;
  /** How many rows a statement changed. */
  run(text: string, values?: readonly Bindable[]): Promise<number>;
  /** Ends the connection when nothing is heard on it. */
  readonly watch: Watch;
  /** Says that something is still read from the connection when the work on it is done. */
  keep(reading: Reading): void;
}

/** Something that is read from a connection for as long as somebody takes it. */
export interface Reading {
  /** Settles when it is read. */
  readonly done: Promise<void>;
  /** Nobody takes it any more. */
  leave(): void;
}

/** A session, as whoever lent the connection sees it. */
interface Lent extends Session {
  readonly readings: readonly Reading[];
}

/**
 * Statements with values come again and again, so the server keeps them prepared; those without are made once, or
 * change tables.
 */
export function sessionOn(client: PoolClient, watch: Watch = NO_WATCH): Lent {
  const readings: Reading[] = [];
  const query = (text: string, values: readonly Bindable[] | undefined): Promise<QueryResult<Row>> =>
    values === undefined
      ? client.query<Row>(text)
      : client.query<Row>({ name: keepPrepared(client, text), text, values: [...values] });
  return {
    client,
    watch,
    readings,
    keep: (reading) => void readings.push(reading),
    rows: async (text, values) => (await query(text, values)).rows,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

/**
 * Lends a connection of a pool; one that was lost is not used again.
 * @param patience milliseconds without a sign of the server, after which the connection is given up
 */
export async function withSession<T>(
  pool: Pool,
  work: (session: Session) => Promise<T>,
  patience: number = patienceOf(pool),
): Promise<T> {
  const client = await takeConnection(pool);
  const watching = watch(client, patience);
  let lost = false;
  try {
    return await work(sessionOn(client, watching));
  } catch (error) {
    lost = isUnavailable(error);
    throw error;
  } finally {
    watching.end();
    client.release(lost || isFull(client));
  }
}

/** Gives a transaction more time for each of its statements, in milliseconds. */
export async function allow({ run, watch }: Session, milliseconds: number): Promise<void> {
  await run(`SET LOCAL statement_timeout = ${milliseconds}`);
  watch.allow(milliseconds + SILENT);
}

/** What the slots of a planned statement stand for. */
export type Slots = Readonly<Partial<Record<Slot, BoundValue>>>;

/** No stored text holds this character, which stands for the one that PostgreSQL's texts cannot have. */
const NO_CHARACTER = '\u{10ffff}';

/** The values of a statement as the engine binds them. */
export function bindings({ values }: Statement, slots: Slots = {}): BoundValue[] {
  return values.map((value) => {
    const bound = typeof value === 'object' && value !== null ? (slots[value.slot] ?? null) : value;
    return typeof bound === 'string' && bound.includes('\0') ? bound.replaceAll('\0', NO_CHARACTER) : bound;
  });
}
