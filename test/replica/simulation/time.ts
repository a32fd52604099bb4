import type { Clock } from '../../../src/shared/clock.ts';
import { Violation } from './violation.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export interface TimeOptions {
  /** Milliseconds since 1970. */
  readonly start: number;
  /** Sleeps end at a multiple of this: with whole seconds, timestamps often lie on edges of windows. Milliseconds. */
  readonly grain: number;
  /** Resolves when nothing is in progress but sleeps. */
  readonly quiet: () => Promise<void>;
  /** The time that may pass at most, in milliseconds: on this clock, and on the machine's. */
  readonly most: { readonly virtual: number; readonly real: number };
  /** What is in progress, for the report of a history that hangs. */
  readonly underWay: () => readonly string[];
}

/** The work of one thread, except for sleeps, is complete before the next macrotask. */
export const threadIsQuiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Time that passes only while every task sleeps, and then at once. */
export class VirtualTime {
  readonly #grain: number;
  readonly #quiet: () => Promise<void>;
  readonly #most: TimeOptions['most'];
  readonly #underWay: () => readonly string[];
  readonly #end: number;
  /** In the order in which they wake. */
  readonly #sleepers: Sleeper[] = [];
  #now: number;

  constructor({ start, grain, quiet, most, underWay }: TimeOptions) {
    this.#now = start;
    this.#grain = grain;
    this.#quiet = quiet;
    this.#most = most;
    this.#underWay = underWay;
    this.#end = start + most.virtual;
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

  /** A clock that shows this time plus an offset, which may change. */
  clock(ahead: (now: number) => number = () => 0): Clock {
    return {
      now: () => this.#now + ahead(this.#now),
      sleep: (milliseconds, signal) => this.sleep(milliseconds, signal),
    };
  }

  /**
   * Lets time pass until the work is done.
   * @throws Violation when it takes too long, on this clock or on the machine's
   */
  async run<T>(work: Promise<T>): Promise<T> {
    const overdue = Promise.withResolvers<never>();
    overdue.promise.catch(() => undefined); // run() rejects with it
    const timer = setTimeout(
      () => overdue.reject(this.#endless(`${this.#most.real / 1000} s`)),
      this.#most.real,
    );
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined); // run() returns it at the end
    try {
      for (;;) {
        await Promise.race([this.#quiet(), overdue.promise]);
        if (isDone) return await done;
        const next = this.#sleepers.shift();
        if (next === undefined) throw new Error('Everybody waits, and nobody sleeps');
        this.#now = Math.max(this.#now, next.at);
        if (this.#now > this.#end) throw this.#endless(`${this.#most.virtual / DAY} days of its time`);
        next.wake();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #endless(spent: string): Violation {
    const calls = this.#underWay();
    const waits = [
      ...(calls.length > 0 ? [`under way: ${calls.join(', ')}`] : ['nothing is under way']),
      `${this.#sleepers.length} sleep`,
    ];
    return new Violation(
      `every history ends: it did not within ${spent}, and stands at ${new Date(this.#now).toISOString()}; ${waits.join('; ')}`,
    );
  }
}

const DAY = 86_400_000;
