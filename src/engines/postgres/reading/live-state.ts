/**
 * What a process knows about a store that other processes change as well: its clock and last timestamp, the number of changes, and
 * the keys of requests. A request learns of it in one round trip, or in none if it assumes that nothing has changed, which the
 * statement that reads then confirms. This module must not know what is read.
 */
import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../../access/index.ts';
import { parseStoredJson } from '../../../records/damage.ts';
import { BoundedCache } from '../../../shared/bounded-cache.ts';
import type { Engine } from '../../../store/engine.ts';
import { keyOf } from '../../../store/keys/key-store.ts';
import { ChangePosition, type KnownKey, UnconfirmedLook } from '../../../store/state/known-state.ts';
import type { LiveModel } from '../../../store/state/live-model.ts';
import type { AssumedLook, Horizon } from '../../../store/store.ts';
import type { Statements } from '../connection/session.ts';
import type { ServerClock } from '../writing/stamp-clock.ts';
import { parseReport, SELECT_LOOK, SELECT_STATE, type ServerReport, timeStateOf } from './look-row.ts';

const HORIZON = `SELECT moment, settled, stands, (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch
  FROM plat_promise($1::float8)`;

/** Saves a reading of the clock, unless a writer is saving one: reads never wait for writers. */
const KEEP_READING = `UPDATE plat_meta SET value = $1 WHERE name IN
  (SELECT name FROM plat_meta WHERE name = 'clock_reading' FOR UPDATE SKIP LOCKED)`;

const KEY_CACHE_BOUNDS = { entries: 10_000, bytes: 16 * 1024 * 1024 };
/** The memory of a key in addition to its row, in bytes. */
const KEY_BYTES = 600;

type Look = Awaited<ReturnType<Engine['look']>>;

export class LiveState {
  readonly #clock: ServerClock;
  readonly #rows: Statements['rows'];
  readonly #position = new ChangePosition();
  readonly #keys = new BoundedCache<KnownKey>('keys', KEY_CACHE_BOUNDS);
  /** Queries that are about to be sent, by token hash. */
  readonly #coming = new Map<string, Promise<Look>>();
  #lastStamp = 0;
  /** The epoch of `#lastStamp`. */
  #epoch = '';
  #generation = 0;

  /** @param rows runs small statements on the primary */
  constructor(clock: ServerClock, rows: Statements['rows']) {
    this.#clock = clock;
    this.#rows = rows;
  }

  /** The number of changes that a standby must show before plat reads from it. */
  get changes(): number {
    return this.#position.changes;
  }

  /** Queries the primary for the current state of the store, and for the key whose token has this hash. */
  async ask(tokenHash: string | null = null) {
    const asked = performance.now();
    const [row] = await (tokenHash === null
      ? this.#rows(SELECT_STATE)
      : this.#rows(SELECT_LOOK, [tokenHash]));
    const seen = parseReport(row);
    const isExpected = this.observe(seen, asked);
    return { ...timeStateOf(seen, this.#clock), key: seen.key, commit: Number(row?.next ?? 0), isExpected };
  }

  /**
   * Processes the state that the primary returned together with the result of a statement.
   * @param asked when the statement was sent, on a monotonic clock
   * @returns whether the clock shows the expected time
   */
  observe({ state, reading, clock }: ServerReport, asked: number): boolean {
    const now = performance.now();
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

  /**
   * Queries the primary once for all requests that arrive in the same turn of the event loop. The query is sent after all of them
   * have arrived, so that each sees every commit before it.
   */
  look(tokenHash: string): Promise<Look> {
    const coming = this.#coming.get(tokenHash);
    if (coming !== undefined) return coming;
    const look = setImmediate().then(() => {
      this.#coming.delete(tokenHash);
      return this.#look(tokenHash);
    });
    this.#coming.set(tokenHash, look);
    return look;
  }

  async #look(tokenHash: string): Promise<Look> {
    const { generation, moment, commit, key: row } = await this.ask(tokenHash);
    const key = row === null ? undefined : this.#keyOf(tokenHash, row);
    return { generation, moment, now: this.now(), key, commit };
  }

  /** A revoked key is never assumed, but queried each time. */
  assume(live: LiveModel, tokenHash: string): AssumedLook | undefined {
    const known = this.#keys.get(tokenHash);
    if (known === undefined || known.key.revokedAt !== null) return undefined;
    return new UnconfirmedLook(tokenHash, known, live, this);
  }

  #keyOf(tokenHash: string, row: string): KeyRecord {
    const known = this.#keys.get(tokenHash);
    if (known?.row === row) return known.key;
    const values = parseStoredJson(row, 'a key of it');
    const key = keyOf(typeof values === 'object' && values !== null ? { ...values } : {});
    this.#keys.put(tokenHash, { row, key }, row.length + KEY_BYTES);
    return key;
  }
}
