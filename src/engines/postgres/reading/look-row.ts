/**
 * The one row by which a server says what a request has to know beside its records: the state of the store, the server's
 * clock, whether it follows another server, and the key with a hash of a token. It rides in the statement that reads, so
 * that all of it is of one snapshot. It must not know who asks, nor what becomes of it.
 */
import { bind, sql } from '../../../compile/fragment.ts';
import type { ClockReading } from '../../../store/clock-jump.ts';
import {
  type Meta,
  metaOf,
  mustBeReadable,
  namesOf,
  STATE,
  type StoredState,
  stateIn,
} from '../../../store/meta.ts';
import type { Ask } from '../../../store/read-steps.ts';
import { SEQUENCE } from '../../../store/rows/change-entry.ts';
import type { Row, Session } from '../../../store/session.ts';
import type { TimeState } from '../../../store/writer.ts';
import { SERVER_CLOCK, type StampClock } from '../writing/stamp-clock.ts';

/** What a server says of the store and of itself. */
export interface Seen {
  readonly state: StoredState;
  /** The last stored reading of the clock. */
  readonly reading: ClockReading | undefined;
  /** The server's own clock, in milliseconds since 1970. */
  readonly clock: number;
  /** Whether the server follows another one, and is not written to itself. */
  readonly follows: boolean;
  /** The row of the key, as JSON; null where none has the hash, or none was asked for. */
  readonly key: string | null;
}

const NAMES = namesOf(...STATE, 'layout', 'oldestReader').map((name) => `'${name}'`);

const COLUMNS = `(SELECT json_object_agg(name, value) FROM plat_meta WHERE name IN (${NAMES.join(', ')}))::text AS state,
  ${SERVER_CLOCK} AS clock, pg_is_in_recovery() AS follows`;

const columns = (tokenHash: string): string =>
  `${COLUMNS}, (SELECT row_to_json(k) FROM plat_keys k WHERE token_hash = ${tokenHash})::text AS key`;

/** The row by itself, with the next number of the sequence of changes. $1: the hash of a token, or null. */
export const LOOK = `SELECT ${columns('$1')}, (SELECT next FROM plat_sequence WHERE resource = '${SEQUENCE}') AS next`;

/** What a statement gives (store/read-steps.ts). The row is in each of the rows, and before all texts. */
type Gives = Ask['gives'];

/** Statements with a look, by their own texts. */
const made: Readonly<Record<Gives, Map<string, string>>> = {
  rows: new Map(),
  joined: new Map(),
  records: new Map(),
  body: new Map(),
  page: new Map(),
};

/** Statements that recur are few; the others are made each time. */
const MOST_TEXTS = 500;

/**
 * A statement with the row: in each of its rows, or as a text of its own before all others, which `lookIn` reads. Two values
 * follow those of the statement: the hash of a token, and the row of its key as last known. If the key has another by now,
 * nothing else is read, so that not even the time that it takes says anything.
 * @param values how many the statement has
 */
export function withLook(statement: string, gives: Gives, values: number): string {
  const texts = made[gives];
  const known = texts.get(statement);
  if (known !== undefined) return known;
  const look = `WITH look AS MATERIALIZED (SELECT ${columns(`$${values + 1}`)})`;
  const isSame = `(SELECT key FROM look) IS NOT DISTINCT FROM $${values + 2}`;
  const text = `${look} ${selections[gives](`(${statement}) q WHERE ${isSame}`)}`;
  if (texts.size >= MOST_TEXTS) texts.clear();
  texts.set(statement, text);
  return text;
}

const TEXT = 'json_build_array(state, clock, follows, key)::text AS x FROM look';

const keyed = (from: string): string => `SELECT NULL AS k, ${TEXT} UNION ALL SELECT q.k, q.x FROM ${from}`;

/** In a join, only what has an OFFSET is a plan of its own, which the server leaves out where it must not read. */
const inOneRow = (from: string): string =>
  `SELECT * FROM look LEFT JOIN (SELECT q.* FROM ${from} OFFSET 0) found ON true`;

const selections: Readonly<Record<Gives, (from: string) => string>> = {
  rows: inOneRow,
  joined: inOneRow,
  body: (from) => `SELECT ${TEXT} UNION ALL SELECT q.x FROM ${from}`,
  page: keyed,
  records: keyed,
};

/** The row in the text that comes before all others. */
export function lookIn(text: string): Row {
  const [state, clock, follows, key]: readonly unknown[] = JSON.parse(text);
  return { state, clock, follows, key };
}

/** The state that was read last: nearly always it is the same text as the one before. */
let last:
  | { readonly text: string; readonly state: StoredState; readonly reading: Seen['reading'] }
  | undefined;

/** @throws LayoutTooNew */
export function seenIn(row: Row | undefined): Seen {
  const text = String(row?.state ?? '{}');
  if (last?.text !== text) {
    const meta = metaIn(text);
    mustBeReadable(meta);
    last = { text, state: stateIn(meta), reading: meta.clockReading };
  }
  const { state, reading } = last;
  const key = typeof row?.key === 'string' ? row.key : null;
  return { state, reading, clock: Number(row?.clock), follows: row?.follows === true, key };
}

function metaIn(text: string): Meta {
  const values: Readonly<Record<string, unknown>> = JSON.parse(text);
  return metaOf(Object.entries(values).map(([name, value]) => ({ name, value })));
}

/** The time of the store, as a server said it that has been noted. */
export const timeIn = ({ state, clock: said }: Seen, clock: StampClock): TimeState => ({
  ...state,
  moment: clock.given() ?? said,
  jump: clock.jump(),
});

const STATE_ALONE = sql`SELECT ${{ parts: [COLUMNS] }}, ${bind(null)}::text AS key`;

/** The state of the store and its clock, as a writer finds them. @throws LayoutTooNew */
export async function readState({ rows }: Pick<Session, 'rows'>, clock: StampClock): Promise<TimeState> {
  const [row] = await rows(STATE_ALONE);
  const seen = seenIn(row);
  clock.note(seen.clock, seen.state.epoch, { reading: seen.reading, newest: seen.state.newest });
  return timeIn(seen, clock);
}
