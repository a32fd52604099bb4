import type { StoreModel } from '../../model.ts';
import { NewDay } from '../../new-day.ts';
import type { Horizon } from '../../store.ts';
import { translateError } from '../connection/errors.ts';
import type { Session } from '../connection/session.ts';
import { readState, type StampClock, type State } from '../writing/stamp-clock.ts';
import { ChangePosition } from './change-position.ts';

/** Where the state of a store is learnt. */
export interface StateSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly clock: StampClock;
  /** Small statements on the server that is written to. */
  readonly rows: Session['rows'];
  /** The model as it is stored; waits for no write. */
  readonly readModel: () => Promise<StoreModel>;
  /** Judges by the rules of a new day, unless somebody else is writing. */
  readonly startDay: () => Promise<StoreModel>;
}

/** What a process knows of a store that others change as well: the model, the last stamp, how many changes there are. */
export class LiveState {
  readonly #source: StateSource;
  readonly #position = new ChangePosition();
  readonly #newDay: NewDay;
  #stored: StoreModel;
  #refreshing: Promise<void> | undefined;
  #lastStamp = 0;

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
    this.sawStamp(Math.max(Date.parse(state.lastStamp), state.settled));
    if (state.generation !== this.#stored.generation) await this.refresh();
    return this.#newDay.modelAt(this.#stored, state.moment);
  }

  /** What the server that is written to says of the store just now. */
  async ask(): Promise<State> {
    const asked = performance.now();
    const { name, rows, clock } = this.#source;
    const state = await readState(rows, clock).catch((error: unknown) => {
      throw translateError(error, name, 0);
    });
    this.#position.told(state.changes, asked, performance.now());
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

  /** Resolves when nothing is done in the background. */
  ended(): Promise<void> {
    return this.#newDay.ended();
  }

  sawStamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  now(): number {
    return Math.max(this.#source.clock.now(), this.#lastStamp);
  }

  async horizon(): Promise<Horizon> {
    const given = this.#source.clock.given();
    const [row] = await this.#source.rows('SELECT moment, settled FROM plat_horizon($1::float8)', [given]);
    const now = Number(row?.moment);
    this.sawStamp(now);
    return { now, settled: Number(row?.settled) };
  }
}
