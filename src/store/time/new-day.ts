/** The work of a new UTC day: rules may depend on the date, so visibility is evaluated again. */
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { dayFrom } from '../../dictionary/index.ts';

/** Milliseconds that the work of a new day waits for the write lock; this process's own writes queue behind it. */
export const DAY_PATIENCE = 1000;

/** The wait when a store is opened: if the lock is not free, the work is left to the background. */
const OPENING_PATIENCE = 50;

/** Milliseconds between two attempts. */
const RETRY_INTERVAL = 5000;

/** The number of consecutive failures after which the delay is reported: a running import has the lock for a while. */
const FAILURES_UNTIL_REPORT = 12;

/** A day whose stored visibility could not be brought up to date: reads evaluate the rules, which takes longer. */
export interface OverdueDay {
  readonly day: string;
  /** The error of the last attempt. */
  readonly error: unknown;
}

/** The model with which a store is opened: with today's rules, unless another process is writing. */
export async function modelOfToday(
  stored: StoreModel,
  moment: number,
  startDay: (patience: number) => Promise<StoreModel>,
): Promise<StoreModel> {
  return stored.visibilityDay >= dayFrom(moment) ? stored : startDay(OPENING_PATIENCE).catch(() => stored);
}

/**
 * Rules that depend on the date change at midnight UTC. The stored visibility of rows is updated in the background, under the
 * write lock. No read waits for this: until then, reads evaluate the rules themselves (compile/visibility.ts).
 */
export class NewDay {
  readonly #startDay: () => Promise<void>;
  readonly #elapsed: () => number;
  #working: Promise<void> | undefined;
  #failure: { readonly day: string; readonly error: unknown; readonly times: number } | undefined;
  #nextTry = Number.NEGATIVE_INFINITY;
  #read: { readonly stored: StoreModel; readonly model: StoreModel } | undefined;

  /**
   * @param startDay updates the stored visibility, or throws when another process is writing
   * @param elapsed milliseconds of a clock that cannot be set
   */
  constructor(startDay: () => Promise<void>, elapsed: () => number = () => performance.now()) {
    this.#startDay = startDay;
    this.#elapsed = elapsed;
  }

  /** The model for reading at this moment; starts the work of a new day if the stored visibility reflects an earlier one. */
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

  /** Why the stored visibility is not up to date; undefined if it is. */
  get overdue(): OverdueDay | undefined {
    const failure = this.#failure;
    return failure === undefined || failure.times < FAILURES_UNTIL_REPORT ? undefined : failure;
  }

  /** Resolves when no work is running. */
  async whenIdle(): Promise<void> {
    await this.#working;
  }

  /**
   * Only one attempt runs at a time. A later read tries again after a failure: the process with the lock may have done the work.
   */
  #bring(day: string): void {
    if (this.#working !== undefined || this.#elapsed() < this.#nextTry) return;
    this.#nextTry = this.#elapsed() + RETRY_INTERVAL;
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
