/**
 * What a process knows about a store that other processes change as well: its clock and last timestamp, the number of changes, and
 * the keys of requests. A request learns of it in one round trip, or in none if it assumes that nothing has changed, which the
 * statement that reads then confirms. This module must not know what is read.
 */
import type { PoolClient } from 'pg';
import { bind, sql } from '../../../compile/fragment.ts';
import { KeptLoan } from '../../../shared/kept-loan.ts';
import { oncePerTurn } from '../../../shared/promise-queue.ts';
import type { StatementRequest } from '../../../store/read/read-steps.ts';
import { SEQUENCE } from '../../../store/rows/change-log.ts';
import type { Row, Session } from '../../../store/session.ts';
import {
  ChangePosition,
  KnownKeys,
  type LiveModel,
  UnconfirmedLook,
} from '../../../store/state/live-model.ts';
import { namesOf, STATE, type TimeState } from '../../../store/state/meta.ts';
import { parseReport, type ServerReport } from '../../../store/state/server-report.ts';
import type { KnownTakeovers } from '../../../store/state/takeovers.ts';
import type { AssumedLook, Horizon } from '../../../store/store.ts';
import type { StorePool } from '../connection/connect.ts';
import { runPrepared } from '../connection/row-bytes.ts';
import {
  borrow,
  type Loan,
  poolSession,
  prepareName,
  type ServerSession,
  type Statements,
} from '../connection/session.ts';
import { SERVER_CLOCK, type ServerClock } from '../writing/server-clock.ts';

const HORIZON = `SELECT moment, settled, stands, (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch
  FROM plat_promise($1::float8)`;

/** Saves a reading of the clock, unless a writer is saving one: reads never wait for writers. */
const KEEP_READING = `UPDATE plat_meta SET value = $1 WHERE name IN
  (SELECT name FROM plat_meta WHERE name = 'clock_reading' FOR UPDATE SKIP LOCKED)`;

export class LiveState {
  readonly #clock: ServerClock;
  readonly #rows: Statements['rows'];
  readonly #kept: KeptLoan<Loan>;
  readonly #takeovers: KnownTakeovers;
  readonly #position = new ChangePosition();
  readonly #keys = new KnownKeys();
  #lastStamp = 0;
  /** The epoch of `#lastStamp`. */
  #epoch = '';
  #generation = 0;

  /** @param small connections to the primary for small statements */
  constructor(clock: ServerClock, small: StorePool, takeovers: KnownTakeovers) {
    this.#takeovers = takeovers;
    this.#clock = clock;
    this.#rows = poolSession(small).rows;
    this.#kept = new KeptLoan(
      () => borrow(small),
      ({ isLost }) => isLost,
    );
  }

  end(): void {
    this.#kept.leave();
  }

  /** The number of changes that a standby must show before plat reads from it. */
  get changes(): number {
    return this.#position.changes;
  }

  /** Queries the primary for the current state of the store, and for the key whose token has this hash. */
  async ask(tokenHash: string | null = null) {
    const asked = performance.now();
    const row =
      tokenHash === null
        ? (await this.#rows(SELECT_STATE))[0]
        : await this.#kept.use(({ run }) => run((session) => queryLook(session, tokenHash)));
    const seen = parseReport(row);
    const isExpected = this.observe(seen, asked);
    return { ...timeStateOf(seen, this.#clock), key: seen.key, commit: Number(row?.next ?? 0), isExpected };
  }

  /**
   * Processes the state that the primary returned together with the result of a statement.
   * @param asked when the statement was sent, on a monotonic clock
   * @returns whether the clock shows the expected time
   * @throws OutdatedServer
   */
  observe({ state, reading, clock }: ServerReport, asked: number): boolean {
    const now = performance.now();
    this.#takeovers.observe(state, asked, now);
    const held = { reading, newest: state.newest };
    const isExpected = this.#clock.recordReading(clock, state.epoch, held, now - asked);
    this.#position.observe(state.changes, asked, now);
    this.#saw(state);
    return isExpected;
  }

  noteTimestamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  /** State from an earlier epoch is ignored; a response that was overtaken may still contain it. */
  #saw({ generation, epoch, newest }: ServerReport['state']): void {
    if (generation < this.#generation) return;
    this.#generation = generation;
    if (epoch !== this.#epoch) this.#lastStamp = 0;
    this.#epoch = epoch;
    this.noteTimestamp(newest);
  }

  now(): number {
    return Math.max(this.#clock.now(), this.#lastStamp);
  }

  async horizon(): Promise<Horizon> {
    const clock = this.#clock;
    // A clock that is passed in belongs to this process, which may not know of a new epoch yet.
    if (clock.passedTime() !== null) await this.ask();
    const [row] = await this.#rows(HORIZON, [clock.passedTime()]);
    const reading = clock.readingToStore();
    if (reading !== undefined) await this.#rows(KEEP_READING, [reading]);
    const now = Number(row?.moment);
    if (String(row?.epoch ?? '') === this.#epoch) this.noteTimestamp(now);
    return { now, settled: Number(row?.settled), standsUntil: Number(row?.stands) };
  }

  /** Queries the primary once for all requests of a turn, after all of them have arrived, so that each sees every commit before it. */
  readonly look = oncePerTurn((tokenHash) => this.#look(tokenHash));

  async #look(tokenHash: string) {
    const { generation, moment, commit, key: row } = await this.ask(tokenHash);
    const key = row === null ? undefined : this.#keys.keyOf(tokenHash, row);
    return { generation, moment, now: this.now(), key, commit };
  }

  assume(live: LiveModel, tokenHash: string): AssumedLook | undefined {
    const known = this.#keys.unrevoked(tokenHash);
    return known && new UnconfirmedLook(tokenHash, known, live, this);
  }
}

const NAMES = namesOf(...STATE, 'layout', 'oldestReader').map((name) => `'${name}'`);

const COLUMNS = `(SELECT json_object_agg(name, value) FROM plat_meta WHERE name IN (${NAMES.join(', ')}))::text AS state,
  ${SERVER_CLOCK} AS clock, pg_is_in_recovery() AS follows`;

const columns = (tokenHash: string): string =>
  `${COLUMNS}, (SELECT row_to_json(k) FROM plat_keys k WHERE token_hash = ${tokenHash})::text AS key`;

/** Selects only this row, with the next number of the sequence of changes. $1: the hash of a token. */
export const SELECT_LOOK = `SELECT ${columns('$1')}, (SELECT next FROM plat_sequence WHERE resource = '${SEQUENCE}') AS next`;

/** The connections on which it is prepared. */
const prepared = new WeakSet<PoolClient>();

async function queryLook({ client, rows }: ServerSession, tokenHash: string): Promise<Row | undefined> {
  if (!prepared.has(client)) {
    const [row] = await rows(SELECT_LOOK, [tokenHash]);
    prepared.add(client);
    return row;
  }
  const [state, clock, follows, key, next] = await runPrepared(
    client,
    prepareName(client, SELECT_LOOK),
    tokenHash,
  );
  return { state, clock, follows: follows === 't', key, next };
}

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

/** The time of the store according to a response of the server that has been processed. */
const timeStateOf = ({ state, clock: said }: ServerReport, clock: ServerClock): TimeState => ({
  ...state,
  moment: clock.passedTime() ?? said,
  jump: clock.jump(),
});

/** The row without the key and the sequence number, for a store whose tables of keys and numbers may be missing. */
const SELECT_STATE = sql`SELECT ${{ parts: [COLUMNS] }}, ${bind(null)}::text AS key`;

/** The state of the store and its clock, for a writer. @throws LayoutTooNew */
export async function readState({ rows }: Pick<Session, 'rows'>, clock: ServerClock): Promise<TimeState> {
  const [row] = await rows(SELECT_STATE);
  const seen = parseReport(row);
  clock.recordReading(seen.clock, seen.state.epoch, { reading: seen.reading, newest: seen.state.newest });
  return timeStateOf(seen, clock);
}
