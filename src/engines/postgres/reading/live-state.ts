import type { StoreModel } from '../../../compile/model.ts';
import { NewDay, type OverdueDay } from '../../../store/new-day.ts';
import type { Horizon } from '../../../store/store.ts';
import { translateError } from '../connection/errors.ts';
import type { ServerSession } from '../connection/session.ts';
import { readState, type StampClock, type State } from '../writing/stamp-clock.ts';
import { ChangePosition } from './change-position.ts';

/** Where the state of a store is learnt. */
export interface StateSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly clock: StampClock;
  /** Small statements on the server that is written to. */
  readonly rows: ServerSession['rows'];
  /** The model as it is stored; waits for no write. */
  readonly readModel: () => Promise<StoreModel>;
  /** Judges by the rules of a new day, unless somebody else is writing. */
  readonly startDay: () => Promise<StoreModel>;
}

const HORIZON = `SELECT moment, settled, stands, (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch
  FROM plat_promise($1::float8)`;

/** Unless a writer is just keeping its own: no read waits for one. */
const KEEP_READING = `UPDATE plat_meta SET value = $1 WHERE name IN
  (SELECT name FROM plat_meta WHERE name = 'clock_reading' FOR UPDATE SKIP LOCKED)`;

/** What a process knows of a store that others change as well: the model, the last stamp, how many changes there are. */
export class LiveState {
  readonly #source: StateSource;
  readonly #position = new ChangePosition();
  readonly #newDay: NewDay;
  #stored: StoreModel;
  #refreshing: Promise<void> | undefined;
  #lastStamp = 0;
  /** Of the epoch that `#lastStamp` is of. */
  #epoch = '';
  #generation = 0;

  constructor(source: StateSource, stored: StoreModel) {
    this.#source = source;
    this.#stored = stored;
    this.#newDay = new NewDay(async () => this.took(await source.startDay()));
  }

  /** What is written by, as it was last known. */
  get stored(): StoreModel {
    return this.#stored;
  }

  /** What is read by, as it was last known. */
  get model(): StoreModel {
    return this.#newDay.modelAt(this.#stored, this.#source.clock.now());
  }

  /** How many changes every server that is read from must show. */
  get changes(): number {
    return this.#position.changes;
  }

  /** What is read by now. Takes no lock, and waits for nobody who has one. */
  async current(): Promise<StoreModel> {
    const state = await this.ask();
    if (state.generation !== this.#stored.generation) await this.refresh();
    return this.#newDay.modelAt(this.#stored, state.moment);
  }

  /** What the server that is written to says of the store just now. */
  async ask(): Promise<State> {
    const asked = performance.now();
    const { name, rows, clock } = this.#source;
    const state = await readState({ rows }, clock).catch((error: unknown) => {
      throw translateError(error, name, 0);
    });
    this.#position.told(state.changes, asked, performance.now());
    this.#saw(state);
    return state;
  }

  /** Reads the model anew, once for all who ask meanwhile. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#source
      .readModel()
      .then((model) => this.took(model))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Notes the model that a write of this process left, unless a later one is known. */
  took(model: StoreModel): void {
    if (model.generation >= this.#stored.generation) this.#stored = model;
  }

  get overdue(): OverdueDay | undefined {
    return this.#newDay.overdue;
  }

  /** Resolves when nothing is done in the background. */
  ended(): Promise<void> {
    return this.#newDay.ended();
  }

  sawStamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  /** What was seen in an epoch before counts no more; an answer that was overtaken may still tell of it. */
  #saw({ generation, epoch, newest }: State): void {
    if (generation < this.#generation) return;
    this.#generation = generation;
    if (epoch !== this.#epoch) this.#lastStamp = 0;
    this.#epoch = epoch;
    this.sawStamp(newest);
  }

  now(): number {
    return Math.max(this.#source.clock.now(), this.#lastStamp);
  }

  async horizon(): Promise<Horizon> {
    const { clock, rows } = this.#source;
    // What is given is of this process, which may not have heard of a new epoch.
    if (clock.given() !== null) await this.ask();
    const [row] = await rows(HORIZON, [clock.given()]);
    const reading = clock.toKeep();
    if (reading !== undefined) await rows(KEEP_READING, [reading]);
    const now = Number(row?.moment);
    if (String(row?.epoch ?? '') === this.#epoch) this.sawStamp(now);
    return { now, settled: Number(row?.settled), standsUntil: Number(row?.stands) };
  }
}
