/**
 * The row with which a server reports what a request must know in addition to its records: the state of the store, the server's
 * clock, whether the server is a standby, and the key whose token has a hash. It is part of the statement that reads records, so
 * that everything comes from one snapshot. This module must not know who sends a request, nor how the row is used.
 */
import { bind, sql } from '../../../compile/fragment.ts';
import type { StatementRequest } from '../../../store/read/read-steps.ts';
import { SEQUENCE } from '../../../store/rows/change-entry.ts';
import type { Row, Session } from '../../../store/session.ts';
import {
  Meta,
  mustBeReadable,
  namesOf,
  STATE,
  type StoredState,
  storedStateOf,
  type TimeState,
} from '../../../store/state/meta.ts';
import type { ClockReading } from '../../../store/time/clock-jump.ts';
import { SERVER_CLOCK, type ServerClock } from '../writing/stamp-clock.ts';

/** What a server reports about the store and itself. */
export interface ServerReport {
  readonly state: StoredState;
  /** The last stored reading of the clock. */
  readonly reading: ClockReading | undefined;
  /** The server's clock in milliseconds since 1970. */
  readonly clock: number;
  /** Whether the server is a standby. */
  readonly follows: boolean;
  /** The row of the key as JSON; null if no key has the hash, or none was requested. */
  readonly key: string | null;
}

const NAMES = namesOf(...STATE, 'layout', 'oldestReader').map((name) => `'${name}'`);

const COLUMNS = `(SELECT json_object_agg(name, value) FROM plat_meta WHERE name IN (${NAMES.join(', ')}))::text AS state,
  ${SERVER_CLOCK} AS clock, pg_is_in_recovery() AS follows`;

const columns = (tokenHash: string): string =>
  `${COLUMNS}, (SELECT row_to_json(k) FROM plat_keys k WHERE token_hash = ${tokenHash})::text AS key`;

/** Selects only this row, with the next number of the sequence of changes. $1: the hash of a token. */
export const SELECT_LOOK = `SELECT ${columns('$1')}, (SELECT next FROM plat_sequence WHERE resource = '${SEQUENCE}') AS next`;

/** The form of a statement's result (store/read/read-steps.ts). The row is added to each of its rows, or precedes all texts. */
type Gives = StatementRequest['gives'];

/** The number of statements to keep; few recur. */
const MOST_TEXTS = 500;

/**
 * Adds the row to a statement: to each of its rows, or as a text before all others, which `parseLookText` parses. Two values follow
 * those of the statement: the hash of a token, and the last known row of its key. If the key has changed, the statement reads
 * nothing else, so that not even the duration reveals anything.
 * @param values the number of the statement's values
 */
export function withLookRow(statement: string, gives: Gives, values: number): string {
  const { select, made } = FORMS[gives];
  const known = made.get(statement);
  if (known !== undefined) return known;
  const look = `WITH look AS MATERIALIZED (SELECT ${columns(`$${values + 1}`)})`;
  const isSame = `(SELECT key FROM look) IS NOT DISTINCT FROM $${values + 2}`;
  const text = `${look} ${select(`(${statement}) q WHERE ${isSame}`)}`;
  if (made.size >= MOST_TEXTS) made.clear();
  made.set(statement, text);
  return text;
}

const TEXT = 'json_build_array(state, clock, follows, key)::text AS x FROM look';

/** A way to add the row, and the resulting statements by their original text. */
const form = (select: (from: string) => string) => ({ select, made: new Map<string, string>() });

const TEXTS = form((from) => `SELECT ${TEXT} UNION ALL SELECT q.x FROM ${from}`);
const KEYED_TEXTS = form((from) => `SELECT NULL AS k, ${TEXT} UNION ALL SELECT q.k, q.x FROM ${from}`);
/** In a join, only a subquery with OFFSET is planned separately and can be skipped entirely. */
const ROWS = form((from) => `SELECT * FROM look LEFT JOIN (SELECT q.* FROM ${from} OFFSET 0) found ON true`);

const FORMS = { rows: ROWS, joined: ROWS, body: TEXTS, page: KEYED_TEXTS, records: KEYED_TEXTS } as const;

/** Parses the text that precedes all others. */
export function parseLookText(text: string): Row {
  const [state, clock, follows, key]: readonly unknown[] = JSON.parse(text);
  return { state, clock, follows, key };
}

/** The last state that was parsed: the next text is nearly always the same. */
let last:
  | { readonly text: string; readonly state: StoredState; readonly reading: ServerReport['reading'] }
  | undefined;

/** @throws LayoutTooNew */
export function parseReport(row: Row | undefined): ServerReport {
  const text = String(row?.state ?? '{}');
  if (last?.text !== text) {
    const values: Readonly<Record<string, unknown>> = JSON.parse(text);
    const meta = new Meta(Object.entries(values).map(([name, value]) => ({ name, value })));
    mustBeReadable(meta);
    last = { text, state: storedStateOf(meta), reading: meta.clockReading };
  }
  const { state, reading } = last;
  const key = typeof row?.key === 'string' ? row.key : null;
  return { state, reading, clock: Number(row?.clock), follows: row?.follows === true, key };
}

/** The time of the store according to a response of the server that has been processed. */
export const timeStateOf = ({ state, clock: said }: ServerReport, clock: ServerClock): TimeState => ({
  ...state,
  moment: clock.passedTime() ?? said,
  jump: clock.jump(),
});

/** The row without the key and the sequence number, for a store whose tables of keys and numbers may be missing. */
export const SELECT_STATE = sql`SELECT ${{ parts: [COLUMNS] }}, ${bind(null)}::text AS key`;

/** The state of the store and its clock, for a writer. @throws LayoutTooNew */
export async function readState({ rows }: Pick<Session, 'rows'>, clock: ServerClock): Promise<TimeState> {
  const [row] = await rows(SELECT_STATE);
  const seen = parseReport(row);
  clock.recordReading(seen.clock, seen.state.epoch, { reading: seen.reading, newest: seen.state.newest });
  return timeStateOf(seen, clock);
}
