/**
 * The rows that a check of a store reads, and the faults that it reports. This module knows neither engines nor how a fault is
 * found.
 */
import type { Planner } from '../../compile/context.ts';
import { tolerateDamage } from '../../compile/dialect.ts';
import type { Sql } from '../../compile/fragment.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { RecordName } from '../../records/record-name.ts';
import type { Row, Session } from '../session.ts';

/** What is wrong with one row. */
export interface RowFaults {
  readonly key: string;
  /** The record that the row is part of. */
  readonly parent?: RecordName;
  /** Columns of the row that disagree with the others, or descriptions of missing parts. */
  readonly what: readonly string[];
}

/** A place in the order in which a check reads the rows of a table. */
export interface RowPlace {
  readonly parent: string;
  readonly key: string;
}

export interface FaultPage {
  readonly rows: number;
  /** The rows that were read because SQL alone could not confirm them as consistent. */
  readonly read: number;
  readonly faults: readonly RowFaults[];
  /** Absent on the last page. */
  readonly next?: RowPlace;
}

/** The rows to check: those with the given keys, the next ones after a place, or a range. */
export type CheckedRows =
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | { readonly kind: 'after'; readonly place: RowPlace | undefined; readonly limit: number }
  | ({ readonly kind: 'range' } & RowRange);

/** The rows after one place up to and including another; an absent place is the beginning or the end of the table. */
export interface RowRange {
  readonly after: RowPlace | undefined;
  readonly upTo: RowPlace | undefined;
}

/**
 * Called after each step of a check.
 * @param rows the rows of all resources that were read so far
 * @param total how many there are, by the counters of the store
 */
export type OnProgress = (resource: string, rows: number, total?: number) => void;

/** The checks of one resource. They report nothing for a resource that the store does not contain. */
export interface Checks {
  /** Rows whose parts disagree (row-faults.ts). */
  rowFaults(resource: string, rows: CheckedRows): Promise<FaultPage>;
  /** The place of the row `limit` rows after another place; undefined if fewer rows follow. */
  rowAfter(resource: string, after: RowPlace | undefined, limit: number): Promise<RowPlace | undefined>;
  /** Counters, tombstones, texts and indexes that disagree with the rows (table-faults.ts). */
  tableFaults(resource: string): Promise<readonly RowFaults[]>;
}

/** A fault in the tables, pages and indexes that contain the records. */
export interface FileFault {
  readonly what: string;
  /**
   * `structure`: indexes and the like, which a repair rebuilds from the records. `tables`: tables that are missing, which a
   * repair creates before it reads records. `pages`: the pages or a table of the records, so that nothing may be written there
   * any more. `model`: the settings by which every record is read, so that no record
   * can be checked. `notes`: a replica's checkpoint, which a refresh rewrites.
   */
  readonly kind: 'structure' | 'tables' | 'pages' | 'model' | 'notes';
  /** Whether the content of a missing table is lost. */
  readonly isLost?: boolean;
}

/** A session with one model, for reading rows that may be damaged. */
export interface CheckSession extends Planner {
  rows(statement: Sql): Promise<readonly Row[]>;
  /** Whether a statement may fail because a column contains a value that no writer stores. */
  readonly mayFail: boolean;
}

export function checkSession(session: Session, model: StoreModel): CheckSession {
  const { dialect } = session;
  return {
    dialect: tolerateDamage(dialect),
    model,
    rows: (statement) => session.rows(statement),
    mayFail: !dialect.hasTypes,
  };
}
