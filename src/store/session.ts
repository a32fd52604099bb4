/**
 * What the store needs to query and change its tables: one connection that runs statements in the engine's dialect. The
 * code that uses a session knows neither the driver nor how the connection was obtained.
 */
import type { Dialect } from '../compile/dialect.ts';
import type { Sql } from '../compile/fragment.ts';

/** A row as the engine's driver returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** One connection, for the scope that has acquired it. */
export interface Session {
  readonly dialect: Dialect;
  rows(statement: Sql): Promise<readonly Row[]>;
  /** @returns the number of rows that the statement changed */
  run(statement: Sql): Promise<number>;
}

/** How a process reads and changes the tables of a store that contain no records. */
export interface OwnTables {
  /** Each statement sees committed data, even while a transaction of this process is still open. */
  readonly reading: Session;
  /** Runs a change under the write lock. */
  locked<T>(work: (session: Session) => Promise<T>): Promise<T>;
}
