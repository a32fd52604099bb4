/**
 * Stores the history of the requests that this process has answered, and adds up the histories of all processes of the store: a
 * restart loses nothing, and each process shows the activity of all processes. It writes at most once a minute, and only after
 * requests; no request waits for a write or fails because of it.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock.ts';
import { type HistoryStep, type HistoryStore, MINUTE } from '../../store/history-store.ts';
import { History, MINUTES_PER_DAY } from './history.ts';
import { type CountingProcess, HistoryDay } from './history-day.ts';

export class HistoryKeeper {
  /** Identifies this process in the store; after a restart, it has another id. */
  readonly #process = randomUUID();
  readonly #own: History;
  readonly #store: HistoryStore;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  /** Whether the store contains steps of this process. */
  #isKept = false;
  /** Whether the last attempt to write failed; the log reports a failure once, and not every minute. */
  #isFailing = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    history: History,
    {
      store,
      clock,
      log,
    }: { readonly store: HistoryStore; readonly clock: Pick<Clock, 'now'>; readonly log: Logger },
  ) {
    this.#own = history;
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), MINUTE).unref();
  }

  /** Writes the steps that have changed since the last write. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(this.#own.takeChanged()));
    return this.#writing;
  }

  async #write(changed: ReadonlySet<number>): Promise<void> {
    if (changed.size === 0) return;
    const now = this.#clock.now();
    const oldest = Math.floor(now / MINUTE) - MINUTES_PER_DAY;
    const steps = [...changed].filter((at) => at >= oldest);
    try {
      await this.#store.write(
        steps.map((at) => ({ ...this.#own.step(at, now), process: this.#process })),
        now,
      );
      this.#isKept = true;
      this.#isFailing = false;
    } catch (error) {
      this.#own.giveBack(new Set(steps));
      if (!this.#isFailing) {
        this.#log.warn({ err: error }, 'the history of the service could not be stored; trying again later');
      }
      this.#isFailing = true;
    }
  }

  /** The last day of all processes, as far as they have written; this process is always up to date. */
  async day(): Promise<HistoryDay> {
    const now = this.#clock.now();
    const last = Math.floor(now / MINUTE);
    const first = last - MINUTES_PER_DAY + 1;
    const kept = await this.#store.since(History.stepAt(first * MINUTE));
    const others = kept.filter(({ process }) => process !== this.#process);
    const own = Array.from({ length: MINUTES_PER_DAY }, (_, ahead) => this.#own.minute(first + ahead));
    return new HistoryDay(
      [{ from: this.#own.began, to: now, isThis: true }, ...countedBy(others)],
      [...own.filter((minute) => minute !== undefined), ...others.flatMap(({ minutes }) => minutes)],
      { first, last },
    );
  }

  /** Writes the remaining steps, and records that this process has counted until now, unless there were no requests at all. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    const changed = this.#own.takeChanged();
    if (!this.#isKept && changed.size === 0) return;
    await this.#write(new Set([...changed, History.stepAt(this.#clock.now())]));
  }
}

/** The time during which each process is known to have counted. */
function countedBy(steps: readonly HistoryStep[]): CountingProcess[] {
  const processes = Map.groupBy(steps, ({ process }) => process);
  return [...processes.values()].map((of) => ({
    from: Math.min(...of.map(({ countedFrom }) => countedFrom)),
    to: Math.max(...of.map(({ countedTo }) => countedTo)),
    isThis: false,
  }));
}
