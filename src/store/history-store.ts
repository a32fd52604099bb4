/**
 * The requests that the services of a store answered in the last day, minute by minute: one row for each process and
 * each step of a few minutes. A process writes its own rows as a whole, so that a write may be repeated; readers add up
 * the rows of all processes.
 */
import { bind, integer, join, name, sql } from '../compile/fragment.ts';
import { Damage, parseStoredJson } from '../records/damage.ts';
import { isObject } from '../shared/json.ts';
import type { OwnTables, Row } from './session.ts';
import { ownColumns } from './state/own-tables.ts';

export const MINUTE = 60_000;
/** The minutes in one row. */
export const STEP_MINUTES = 5;
/** Milliseconds for which a row is kept: the day that is shown, plus the time by which clocks may differ. */
const KEPT = 25 * 60 * MINUTE;

/** What a surface answered in one minute. */
export interface SurfaceFigures {
  readonly requests: number;
  /** Answers with a status of 400 to 499. */
  readonly refused: number;
  /** Answers with a status of 500 or more. */
  readonly failed: number;
  /** The number of requests by class of duration, as the service defines these classes. */
  readonly times: readonly number[];
}

/** The use of a key in one minute. */
export interface KeyFigures {
  readonly requests: number;
  readonly rows: number;
  readonly bytes: number;
  /** Requests beyond the request limit; the other counts do not include them. */
  readonly limited: number;
}

export interface MinuteFigures {
  /** Minutes since 1970. */
  readonly at: number;
  readonly surfaces: ReadonlyMap<string, SurfaceFigures>;
  readonly keys: ReadonlyMap<string, KeyFigures>;
}

/** What one process answered in one step. */
export interface HistoryStep {
  /** Identifies the process among all processes that have ever run. */
  readonly process: string;
  /** Minutes since 1970; a multiple of `STEP_MINUTES`. */
  readonly at: number;
  /** From when, and up to when, the process has counted without interruption. Milliseconds since 1970. */
  readonly countedFrom: number;
  readonly countedTo: number;
  /** The minutes of the step that had requests. */
  readonly minutes: readonly MinuteFigures[];
}

export interface HistoryStore {
  /**
   * Stores steps, replacing earlier rows of the same process for them, and deletes those older than 25 hours.
   * @param now milliseconds since 1970
   */
  write(steps: readonly HistoryStep[], now: number): Promise<void>;
  /**
   * Returns the steps since a minute, in order of time.
   * @param since minutes since 1970
   * @throws Damage for a row that plat does not write
   */
  since(since: number): Promise<readonly HistoryStep[]>;
}

/** The columns of `plat_history`; `at` is in minutes since 1970. */
const COLUMNS = ownColumns('plat_history');

const NAMES = join([...COLUMNS.keys()].map(name), ', ');

export function historyStoreOn({ reading, locked }: OwnTables): HistoryStore {
  return {
    write: (steps, now) =>
      locked(async ({ run, dialect }) => {
        const rows = steps.map(({ at, process, countedFrom, countedTo, minutes }) => ({
          ...{ at, process, counted_from: countedFrom, counted_to: countedTo },
          figures: JSON.stringify(minutes.map((minute) => encodeMinute(minute, at))),
        }));
        await run(sql`INSERT INTO plat_history (${NAMES})
          SELECT ${NAMES} FROM ${dialect.objectTable(bind(JSON.stringify(rows)), 'v', COLUMNS)} WHERE TRUE
          ON CONFLICT (at, process) DO UPDATE SET counted_to = excluded.counted_to, figures = excluded.figures`);
        await run(sql`DELETE FROM plat_history WHERE at < ${integer(Math.floor((now - KEPT) / MINUTE))}`);
      }),
    async since(since) {
      const rows = await reading.rows(
        sql`SELECT ${NAMES} FROM plat_history WHERE at >= ${integer(since)} ORDER BY at, process`,
      );
      return rows.map(decodeStep);
    },
  };
}

/** A minute as it is stored: its place in its step, and lists of figures by surface and by key. */
const encodeMinute = ({ at, surfaces, keys }: MinuteFigures, step: number) => ({
  minute: at - step,
  surfaces: Object.fromEntries(
    [...surfaces].map(([surface, { requests, refused, failed, times }]) => [
      surface,
      [requests, refused, failed, ...times],
    ]),
  ),
  keys: Object.fromEntries(
    [...keys].map(([key, { requests, rows, bytes, limited }]) => [key, [requests, rows, bytes, limited]]),
  ),
});

function decodeStep(row: Row): HistoryStep {
  const at = Number(row.at);
  const process = String(row.process);
  const what = `the history of minute ${at} of process ${process}`;
  const stored = parseStoredJson(row.figures, what);
  if (!Array.isArray(stored)) throw new Damage(`${what} is not a list`);
  return {
    ...{ at, process, countedFrom: Number(row.counted_from), countedTo: Number(row.counted_to) },
    minutes: stored.map((minute: unknown) => decodeMinute(minute, at, what)),
  };
}

function decodeMinute(stored: unknown, step: number, what: string): MinuteFigures {
  if (!isObject(stored) || typeof stored.minute !== 'number') throw new Damage(`${what} has no minutes`);
  const surfaces = [...figureLists(stored.surfaces, what)].map(
    ([surface, [requests = 0, refused = 0, failed = 0, ...times]]) =>
      [surface, { requests, refused, failed, times }] as const,
  );
  const keys = [...figureLists(stored.keys, what)].map(
    ([key, [requests = 0, rows = 0, bytes = 0, limited = 0]]) =>
      [key, { requests, rows, bytes, limited }] as const,
  );
  return { at: step + stored.minute, surfaces: new Map(surfaces), keys: new Map(keys) };
}

/** The lists of figures of an object, by name. @throws Damage */
function figureLists(stored: unknown, what: string): ReadonlyMap<string, readonly number[]> {
  if (!isObject(stored)) throw new Damage(`${what} has no figures`);
  const lists = Object.entries(stored).map(([each, list]) => {
    if (!Array.isArray(list)) throw new Damage(`${what} has no figures of ${each}`);
    return [each, list.map(Number)] as const;
  });
  return new Map(lists);
}
