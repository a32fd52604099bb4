/**
 * What the store needs to query and change its tables: one connection that runs statements in the engine's dialect. The
 * code that uses a session knows neither the driver nor how the connection was obtained. The modules in `rows/` write every table
 * through a session that has the write lock of a store, with the few operations in addition to SQL that differ by engine.
 */

import type { ColumnKind } from '../compile/column-value.ts';
import type { Dialect } from '../compile/dialect.ts';
import type { BoundValue, Sql } from '../compile/fragment.ts';
import type { ResourceLayout } from '../compile/layout/index.ts';
import type { RowToPut } from '../records/rows.ts';

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

/** The texts of a record that $search covers. */
export interface RecordTexts {
  readonly id: number;
  readonly texts: readonly string[];
  /** Whether a record is stored under this key and number, so that the words of its columns are indexed. */
  readonly isStored: boolean;
}

/** Identifies rows in their table, by key or by number: the rows of a search table have the numbers of their records. */
export type RowIdentifiers =
  | { readonly by: '_key'; readonly keys: readonly string[] }
  | { readonly by: '_id'; readonly ids: readonly number[] };

export interface WriteSession extends Session {
  /**
   * Stores rows by the engine's fastest method; each replaces the row with the same key, or with the same number.
   * @param stored the rows that may already be stored
   * @param rows the values of each row in the order of the columns; may be computed while earlier rows are being stored
   */
  replace(
    table: string,
    stored: RowIdentifiers,
    columns: readonly string[],
    rows: Iterable<readonly BoundValue[]>,
  ): Promise<void>;
  /**
   * Changes columns of stored rows by the engine's fastest method.
   * @param rows the key of each row, followed by its values in the order of the columns
   */
  update(
    table: string,
    columns: ReadonlyMap<string, ColumnKind>,
    rows: readonly (readonly BoundValue[])[],
  ): Promise<void>;
  /** Indexes the words of records before they are stored, in an engine with such an index. */
  indexWords?(layout: ResourceLayout, records: Iterable<RecordTexts>): Promise<void>;
  /** Called before rows are stored, in an engine that prepares for their originating systems. */
  beforePut?(rows: readonly RowToPut[]): Promise<void>;
}

/**
 * Runs `work` in a transaction, which is committed, or rolled back if the work throws.
 * @param begin the statement that begins it
 */
export async function inTransaction<T>(
  { run }: { readonly run: (statement: string) => Promise<unknown> },
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
