/**
 * What the store needs of an engine to ask and change its tables: one connection that runs statements in the engine's
 * dialect. Whoever holds a session knows neither the driver nor how the connection was obtained.
 */
import type { Dialect } from '../compile/dialect.ts';
import type { Sql } from '../compile/fragment.ts';

/** A row as an engine's driver gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** One connection, inside the scope that holds it. */
export interface Session {
  readonly dialect: Dialect;
  rows(statement: Sql): Promise<readonly Row[]>;
  /** @returns the number of rows that the statement changed */
  run(statement: Sql): Promise<number>;
}

/** The tables of a store that hold no records, as a process reads and changes them. */
export interface OwnTables {
  /** Each statement sees what is committed, also while a transaction of this process waits for its end. */
  readonly reading: Session;
  /** Runs a change under the write lock. */
  locked<T>(work: (session: Session) => Promise<T>): Promise<T>;
}
