import { makeModel, type StoreModel } from '../compile/model.ts';
import { dayFrom } from '../dictionary/index.ts';

/** How long the work of a new day waits for the write lock, in milliseconds; what this process writes waits behind it. */
export const DAY_PATIENCE = 1000;

/** The same for who opens a store: where the lock is not free, the work is left to the background. */
const AT_ONCE = 50;

/** Milliseconds between two tries. */
const PAUSE = 5000;

/** Tries in a row after which somebody is told: an import that is under way holds the lock for a while. */
const PATIENCE = 12;

/** A day whose rules the stored visibility does not follow, though it was tried; reads spell them out, which takes longer. */
export interface OverdueDay {
  readonly day: string;
  /** Of the last try. */
  readonly error: unknown;
}

/** The model that a store is opened with, of today if nobody else is writing. */
export async function modelOfToday(
  stored: StoreModel,
  moment: number,
  startDay: (patience: number) => Promise<StoreModel>,
): Promise<StoreModel> {
  return stored.visibilityDay >= dayFrom(moment) ? stored : startDay(AT_ONCE).catch(() => stored);
}

/**
 * Rules that look at the calendar move at midnight, UTC. The stored visibility of rows follows them in the background,
 * under the write lock; no read waits for that: until it is done, reads spell the rules out (sql/visibility.ts).
 */
export class NewDay {
  readonly #startDay: () => Promise<void>;
  readonly #elapsed: () => number;
  #working: Promise<void> | undefined;
  #failure: { readonly day: string; readonly error: unknown; readonly times: number } | undefined;
  #nextTry = Number.NEGATIVE_INFINITY;
  #read: { readonly stored: StoreModel; readonly model: StoreModel } | undefined;

  /**
   * @param startDay brings the stored visibility to the day, or throws when somebody else is writing
   * @param elapsed milliseconds of a clock that nobody sets
   */
  constructor(startDay: () => Promise<void>, elapsed: () => number = () => performance.now()) {
    this.#startDay = startDay;
    this.#elapsed = elapsed;
  }

  /** What a reader goes by at this moment; has the stored visibility brought up to date if it is of a day before. */
  modelAt(stored: StoreModel, moment: number): StoreModel {
    const today = dayFrom(moment);
    if (stored.visibilityDay >= today) return stored;
    this.#bring(today);
    if (this.#read?.stored !== stored || this.#read.model.day !== today) {
      const { generation, epoch, settings, profile, visibilityDay } = stored;
      this.#read = {
        stored,
        model: makeModel({ generation, epoch, settings, profile, day: visibilityDay, today }),
      };
    }
    return this.#read.model;
  }

  /** What keeps the stored visibility from following the day; undefined when nothing does. */
  get overdue(): OverdueDay | undefined {
    const failure = this.#failure;
    return failure === undefined || failure.times < PATIENCE ? undefined : failure;
  }

  /** Resolves when nothing is being done. */
  async ended(): Promise<void> {
    await this.#working;
  }

  /** One at a time. One that fails is tried again by a later read: whoever holds the lock may have done the work. */
  #bring(day: string): void {
    if (this.#working !== undefined || this.#elapsed() < this.#nextTry) return;
    this.#nextTry = this.#elapsed() + PAUSE;
    this.#working = this.#startDay()
      .then(() => {
        this.#failure = undefined;
      })
      .catch((error: unknown) => {
        const before = this.#failure?.day === day ? this.#failure.times : 0;
        this.#failure = { day, error, times: before + 1 };
      })
      .finally(() => {
        this.#working = undefined;
      });
  }
}
