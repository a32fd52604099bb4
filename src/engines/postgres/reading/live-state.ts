import type { TimeState } from '../../../store/meta.ts';
import type { Horizon } from '../../../store/store.ts';
import type { ServerSession } from '../connection/session.ts';
import type { StampClock } from '../writing/stamp-clock.ts';
import { LOOK, type Seen, seenIn, timeIn } from './look-row.ts';

const HORIZON = `SELECT moment, settled, stands, (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch
  FROM plat_promise($1::float8)`;

/** Saves a reading of the clock, unless a writer is saving one: reads never wait for writers. */
const KEEP_READING = `UPDATE plat_meta SET value = $1 WHERE name IN
  (SELECT name FROM plat_meta WHERE name = 'clock_reading' FOR UPDATE SKIP LOCKED)`;

/** The response of the primary to a query for the state alone. */
interface Answered extends TimeState {
  /** The row of the requested key as JSON; null if there is none. */
  readonly key: string | null;
  /** The next number of the sequence of changes; it differs after each commit that changes data. */
  readonly next: number;
  /** Whether the clock shows the expected time. */
  readonly isExpected: boolean;
}

/** What a process knows about a store that other processes change as well: the last timestamp, and the number of changes. */
export class LiveState {
  readonly #clock: StampClock;
  readonly #rows: ServerSession['rows'];
  readonly #position = new ChangePosition();
  #lastStamp = 0;
  /** The epoch of `#lastStamp`. */
  #epoch = '';
  #generation = 0;

  /** @param rows runs small statements on the primary */
  constructor(clock: StampClock, rows: ServerSession['rows']) {
    this.#clock = clock;
    this.#rows = rows;
  }

  /** The number of changes that a server must show to be read from. */
  get changes(): number {
    return this.#position.changes;
  }

  /** Queries the primary for the current state of the store, and for the key with a token hash. */
  async ask(tokenHash: string | null = null): Promise<Answered> {
    const asked = performance.now();
    const [row] = await this.#rows(LOOK, [tokenHash]);
    const seen = seenIn(row);
    const isExpected = this.observe(seen, asked);
    return { ...timeIn(seen, this.#clock), key: seen.key, next: Number(row?.next ?? 0), isExpected };
  }

  /**
   * Processes the state that the primary returned together with the result of a statement.
   *
   * @param asked when the statement was sent, on a monotonic clock
   * @returns whether the clock shows the expected time
   */
  observe({ state, reading, clock }: Seen, asked: number): boolean {
    const now = performance.now();
    const held = { reading, newest: state.newest };
    const isExpected = this.#clock.note(clock, state.epoch, held, now - asked);
    this.#position.observe(state.changes, asked, now);
    this.#saw(state);
    return isExpected;
  }

  sawStamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  /** State from an earlier epoch is ignored; a response that was overtaken may still contain it. */
  #saw({ generation, epoch, newest }: Seen['state']): void {
    if (generation < this.#generation) return;
    this.#generation = generation;
    if (epoch !== this.#epoch) this.#lastStamp = 0;
    this.#epoch = epoch;
    this.sawStamp(newest);
  }

  now(): number {
    return Math.max(this.#clock.now(), this.#lastStamp);
  }

  async horizon(): Promise<Horizon> {
    const clock = this.#clock;
    // A clock that is passed in belongs to this process, which may not know of a new epoch yet.
    if (clock.given() !== null) await this.ask();
    const [row] = await this.#rows(HORIZON, [clock.given()]);
    const reading = clock.toKeep();
    if (reading !== undefined) await this.#rows(KEEP_READING, [reading]);
    const now = Number(row?.moment);
    if (String(row?.epoch ?? '') === this.#epoch) this.sawStamp(now);
    return { now, settled: Number(row?.settled), standsUntil: Number(row?.stands) };
  }
}

/**
 * The number of changes that the primary has shown to this process, and that every standby must show before it is read from.
 * Responses may arrive out of order, so a smaller number is outdated, unless it was queried after the larger one was known: then
 * another server has taken over that had not received the last changes.
 */
export class ChangePosition {
  #changes = 0;
  #knownAt = Number.NEGATIVE_INFINITY;

  get changes(): number {
    return this.#changes;
  }

  /**
   * @param asked when the query was sent, on a monotonic clock
   * @param now when its response arrived, on the same clock
   */
  observe(changes: number, asked: number, now: number): void {
    if (changes === this.#changes || (changes < this.#changes && asked <= this.#knownAt)) return;
    this.#changes = changes;
    this.#knownAt = now;
  }
}
