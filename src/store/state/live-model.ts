/** The model with which a process reads and writes a store that other processes change as well. */
import type { StoreModel } from '../../compile/model.ts';
import { NewDay, type OverdueDay } from '../time/new-day.ts';

/** The source of a model. */
export interface ModelSource {
  /** The clock that sets timestamps, as last known; milliseconds since 1970. */
  now(): number;
  /** Reads the number of changes of the stored model, and the clock. Needs no lock, and waits for no process that has it. */
  ask(): Promise<{ readonly generation: number; readonly moment: number }>;
  /** Reads the stored model. */
  readModel(): Promise<StoreModel>;
  /** Evaluates visibility by the rules of a new day, unless another process is writing. */
  startDay(): Promise<StoreModel>;
}

export class LiveModel {
  readonly #source: ModelSource;
  readonly #newDay: NewDay;
  #stored: StoreModel;
  #refreshing: Promise<void> | undefined;

  constructor(stored: StoreModel, source: ModelSource) {
    this.#stored = stored;
    this.#source = source;
    this.#newDay = new NewDay(async () => this.replaceStored(await source.startDay()));
  }

  /** The model for writing, as last known. */
  get stored(): StoreModel {
    return this.#stored;
  }

  /** The model for reading, as last known. */
  get known(): StoreModel {
    return this.#newDay.modelAt(this.#stored, this.#source.now());
  }

  /** The model for reading, as it is now. */
  async current(): Promise<StoreModel> {
    return this.at(await this.#source.ask());
  }

  /** The model for reading, according to the given state of the store. */
  async at({ generation, moment }: Awaited<ReturnType<ModelSource['ask']>>): Promise<StoreModel> {
    if (generation !== this.#stored.generation) await this.refresh();
    return this.#newDay.modelAt(this.#stored, moment);
  }

  /** Reads the model again, once for all concurrent callers. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#source
      .readModel()
      .then((model) => this.replaceStored(model))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Sets the model that a write of this process produced, unless a later one is known. */
  replaceStored(model: StoreModel): void {
    if (model.generation >= this.#stored.generation) this.#stored = model;
  }

  get overdue(): OverdueDay | undefined {
    return this.#newDay.overdue;
  }

  /** Resolves when no background work is running. */
  whenIdle(): Promise<void> {
    return this.#newDay.whenIdle();
  }
}
