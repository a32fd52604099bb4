/**
 * Notices commits to the sequence of changes, once for all who follow it in this process: at once where this process
 * commits or the engine is told by the others, and by asking for the last number otherwise. It asks only while somebody
 * follows. It knows no engine, and nothing of what was committed.
 */
import { setTimeout } from 'node:timers/promises';
import { type Sql, sql } from '../compile/fragment.ts';
import type { Row } from './session.ts';

/** Lets so many milliseconds pass; an aborted signal ends it early. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Who hears of the commits of other processes. */
export interface Hearing {
  /** Called at each announcement, and when some may have been missed. */
  heard(): void;
  /** Called once when commits are announced no more, with the reason, until they are again. */
  lost(error: unknown): void;
}

/** What an engine is told of the commits of other processes. */
export interface Announcements {
  /** Whether every commit is announced from now on; a connection that is lost and made again announces what it missed. */
  readonly isOpen: boolean;
  close(): Promise<void>;
}

interface CommitSource {
  rows(statement: Sql): Promise<readonly Row[]>;
  /** Absent: the engine is told of nothing. */
  announcements?(hearing: Hearing, pause: Pause): Announcements | undefined;
}

/**
 * Milliseconds between two questions. While commits are announced, only every tenth is asked, as a safety net; likewise
 * after the store could not be asked, since asking makes no store come back.
 */
const EVERY = 100;
const SELDOM = 10;

const LAST = sql`SELECT max(seq) AS last FROM plat_changes`;

const sleep: Pause = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);

/** What is called for who follows. */
interface Listener {
  readonly committed: () => void;
  readonly lost: ((error: unknown) => void) | undefined;
}

export class CommitWatch {
  readonly #source: CommitSource;
  readonly #pause: Pause;
  readonly #listeners = new Set<Listener>();
  #last: unknown;
  /** Ends what asks, while somebody follows. */
  #asking: AbortController | undefined;
  /** Resolves when nothing is asked any more that was to end. */
  #ended: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(source: CommitSource, pause: Pause = sleep) {
    this.#source = source;
    this.#pause = pause;
  }

  /**
   * Calls a listener after every commit, and perhaps without one.
   * @param lost called when the commits of other processes are announced no more, and are found by asking
   * @returns a function that ends this
   */
  watch(committed: () => void, lost?: (error: unknown) => void): () => void {
    if (this.#isClosed) return () => undefined;
    const listener = { committed, lost };
    this.#listeners.add(listener);
    if (this.#asking === undefined) {
      this.#asking = new AbortController();
      const all = Promise.all([this.#ended, this.#ask(this.#asking.signal)]);
      this.#ended = all.then(() => undefined);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** This process has committed. */
  notice(): void {
    for (const { committed } of this.#listeners) committed();
  }

  /** Calls nobody any more. Resolves when nothing is asked, also by those who had stopped watching before. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop();
    return this.#ended;
  }

  #stop(): void {
    this.#asking?.abort();
    this.#asking = undefined;
  }

  async #ask(stop: AbortSignal): Promise<void> {
    const hearing: Hearing = {
      heard: () => this.notice(),
      lost: (error) => {
        for (const { lost } of this.#listeners) lost?.(error);
      },
    };
    const announcements = this.#source.announcements?.(hearing, this.#pause);
    let isAway = false;
    let passed = 0;
    while (!stop.aborted) {
      await this.#pause(EVERY, stop);
      if (stop.aborted) break;
      passed++;
      if ((isAway || announcements?.isOpen === true) && passed < SELDOM) continue;
      passed = 0;
      try {
        const [row] = await this.#source.rows(LAST);
        if (row?.last !== this.#last) this.notice();
        this.#last = row?.last;
        isAway = false;
      } catch {
        // Whoever reads next is told why the store is away.
        isAway = true;
      }
    }
    await announcements?.close();
  }
}
