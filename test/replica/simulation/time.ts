import type { Clock } from '../../../src/store/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export interface TimeOptions {
  /** Milliseconds since 1970. */
  readonly start: number;
  /** Everybody wakes at a multiple of this: with whole seconds, edges of windows are met often. Milliseconds. */
  readonly grain: number;
  /** Resolves when no work is under way but what sleeps. */
  readonly quiet: () => Promise<void>;
}

/** All work of one thread that does not sleep comes to its end before the next macrotask. */
export const threadIsQuiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Time that passes only while everybody sleeps, and then at once. */
export class VirtualTime {
  readonly #grain: number;
  readonly #quiet: () => Promise<void>;
  /** In the order in which they wake. */
  readonly #sleepers: Sleeper[] = [];
  #now: number;

  constructor({ start, grain, quiet }: TimeOptions) {
    this.#now = start;
    this.#grain = grain;
    this.#quiet = quiet;
  }

  get now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const at = Math.ceil((this.#now + Math.max(0, milliseconds)) / this.#grain) * this.#grain;
      const wake = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const sleeper: Sleeper = { at, wake };
      const leave = (): void => {
        this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      const place = this.#sleepers.findLastIndex((other) => other.at <= at);
      this.#sleepers.splice(place + 1, 0, sleeper);
    });
  }

  /** A clock that shows this time, so many milliseconds ahead; somebody may set it. */
  clock(ahead: (now: number) => number = () => 0): Clock {
    return {
      now: () => this.#now + ahead(this.#now),
      sleep: (milliseconds, signal) => this.sleep(milliseconds, signal),
    };
  }

  /** Lets time pass until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined); // told at the end
    for (;;) {
      await this.#quiet();
      if (isDone) return done;
      const next = this.#sleepers.shift();
      if (next === undefined) throw new Error('Everybody waits, and nobody sleeps');
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }
}
