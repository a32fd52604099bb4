import type { Horizon } from '../../../store/store.ts';
import type { TimeState } from '../../../store/writer.ts';
import type { ServerSession } from '../connection/session.ts';
import type { StampClock } from '../writing/stamp-clock.ts';
import { LOOK, type Seen, seenIn, timeIn } from './look-row.ts';

const HORIZON = `SELECT moment, settled, stands, (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch
  FROM plat_promise($1::float8)`;

/** Unless a writer is just keeping its own: no read waits for one. */
const KEEP_READING = `UPDATE plat_meta SET value = $1 WHERE name IN
  (SELECT name FROM plat_meta WHERE name = 'clock_reading' FOR UPDATE SKIP LOCKED)`;

/** What the server that is written to said, when it was asked for nothing else. */
interface Answered extends TimeState {
  /** The row of the key that was asked for, as JSON; null where there is none. */
  readonly key: string | null;
  /** The next number of the sequence of changes: another one after each commit that changes what is read. */
  readonly next: number;
  /** Whether the clock is where it was expected. */
  readonly isExpected: boolean;
}

/** What a process knows of a store that others change as well: the last stamp, and how many changes there are. */
export class LiveState {
  readonly #clock: StampClock;
  readonly #rows: ServerSession['rows'];
  readonly #position = new ChangePosition();
  #lastStamp = 0;
  /** Of the epoch that `#lastStamp` is of. */
  #epoch = '';
  #generation = 0;

  /** @param rows small statements on the server that is written to */
  constructor(clock: StampClock, rows: ServerSession['rows']) {
    this.#clock = clock;
    this.#rows = rows;
  }

  /** How many changes every server that is read from must show. */
  get changes(): number {
    return this.#position.changes;
  }

  /** What the server that is written to says of the store just now, and of the key with a hash of a token. */
  async ask(tokenHash: string | null = null): Promise<Answered> {
    const asked = performance.now();
    const [row] = await this.#rows(LOOK, [tokenHash]);
    const seen = seenIn(row);
    const isExpected = this.told(seen, asked);
    return { ...timeIn(seen, this.#clock), key: seen.key, next: Number(row?.next ?? 0), isExpected };
  }

  /**
   * Takes in what the server that is written to said beside the answer to a statement.
   * @param asked when the statement was sent, on a clock that only runs forward
   * @returns whether the clock is where it was expected
   */
  told({ state, reading, clock }: Seen, asked: number): boolean {
    const now = performance.now();
    const held = { reading, newest: state.newest };
    const isExpected = this.#clock.note(clock, state.epoch, held, now - asked);
    this.#position.told(state.changes, asked, now);
    this.#saw(state);
    return isExpected;
  }

  sawStamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  /** What was seen in an epoch before counts no more; an answer that was overtaken may still tell of it. */
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
    // What is given is of this process, which may not have heard of a new epoch.
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
 * How many changes the primary server has shown to this process, which every server that is read from must show, too.
 * Answers may come out of order, so a smaller number is old news; unless it was queried for after the larger one was
 * known: then another server has taken over that had not yet got the last changes.
 */
export class ChangePosition {
  #changes = 0;
  #knownAt = Number.NEGATIVE_INFINITY;

  get changes(): number {
    return this.#changes;
  }

  /**
   * @param asked and @param now: when the question was sent and the response came, on a clock that only runs forward
   */
  told(changes: number, asked: number, now: number): void {
    if (changes === this.#changes || (changes < this.#changes && asked <= this.#knownAt)) return;
    this.#changes = changes;
    this.#knownAt = now;
  }
}
