import type { Pool, PoolClient, QueryResult } from 'pg';
import type { BoundValue, Slot, Statement } from '../sql/fragment.ts';
import { takeConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { isFull, keepPrepared } from './prepared.ts';

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
}

/**
 * Statements with values come again and again, so the server keeps them prepared; those without are made once, or
 * change tables.
 */
export function sessionOn(client: PoolClient): Session {
  const query = (text: string, values: readonly Bindable[] | undefined): Promise<QueryResult<Row>> =>
    values === undefined
      ? client.query<Row>(text)
      : client.query<Row>({ name: keepPrepared(client, text), text, values: [...values] });
  return {
    client,
    rows: async (text, values) => (await query(text, values)).rows,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

/** Lends a connection of a pool; one that was lost is not used again. */
export async function withSession<T>(pool: Pool, work: (session: Session) => Promise<T>): Promise<T> {
  const client = await takeConnection(pool);
  let lost = false;
  try {
    return await work(sessionOn(client));
  } catch (error) {
    lost = isUnavailable(error);
    throw error;
  } finally {
    client.release(lost || isFull(client));
  }
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
