import { dayFrom } from '../../../dictionary/index.ts';
import type { StoreModel } from '../../model.ts';
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
  /** The model as it is stored; after the writes of this process, which may be changing it, too. */
  readonly readModel: () => Promise<StoreModel>;
  /** Judges by the rules of a new day. */
  readonly startDay: () => Promise<StoreModel>;
}

/** What a process knows of a store that others change as well: the model, the last stamp, how many changes there are. */
export class LiveState {
  readonly #source: StateSource;
  readonly #position = new ChangePosition();
  #model: StoreModel;
  #lastStamp = 0;

  constructor(source: StateSource, model: StoreModel) {
    this.#source = source;
    this.#model = model;
  }

  /** As it was last known. */
  get model(): StoreModel {
    return this.#model;
  }

  /** How many changes every server that is read from must show. */
  get changes(): number {
    return this.#position.changes;
  }

  /** The model as it is now. */
  async current(): Promise<StoreModel> {
    const state = await this.ask();
    this.sawStamp(Math.max(Date.parse(state.lastStamp), state.settled));
    if (state.generation !== this.#model.generation) await this.refresh();
    if (this.#model.day < dayFrom(state.moment)) this.#model = await this.#source.startDay();
    return this.#model;
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

  async refresh(): Promise<void> {
    const model = await this.#source.readModel();
    if (model.generation >= this.#model.generation) this.#model = model;
  }

  /** Notes the model that a write of this process left. */
  took(model: StoreModel): void {
    this.#model = model;
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
