/**
 * Notices commits to the sequence of changes, once for all who follow it in this process: at once where this process
 * commits or the engine is told by the others, and by asking for the last number otherwise. It asks only while somebody
 * follows. It knows no engine, and nothing of what was committed.
 */
import { setTimeout } from 'node:timers/promises';
import { type Sql, sql } from '../compile/fragment.ts';
import type { Row } from './session.ts';

/** What an engine is told of the commits of other processes. */
export interface Announcements {
  /** Whether every commit is announced from now on; a connection that is lost and made again announces what it missed. */
  readonly isOpen: boolean;
  close(): Promise<void>;
}

interface CommitSource {
  rows(statement: Sql): Promise<readonly Row[]>;
  /** Absent: the engine is told of nothing. */
  announcements?(heard: () => void): Announcements | undefined;
}

/** Milliseconds between two questions: while commits are announced, these are only the safety net. */
const EVERY = 100;
const SAFETY = 1000;

const LAST = sql`SELECT max(seq) AS last FROM plat_changes`;

export class CommitWatch {
  readonly #source: CommitSource;
  readonly #listeners = new Set<() => void>();
  #last: unknown;
  /** What asks, while somebody follows. */
  #asking: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(source: CommitSource) {
    this.#source = source;
  }

  /**
   * Calls a listener after every commit, and perhaps without one.
   * @returns a function that ends this
   */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#asking === undefined) {
      const stop = new AbortController();
      this.#asking = { stop, ended: this.#ask(stop.signal) };
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) void this.close();
    };
  }

  /** This process has committed. */
  notice(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves when nothing is asked any more. */
  async close(): Promise<void> {
    this.#listeners.clear();
    const asking = this.#asking;
    this.#asking = undefined;
    asking?.stop.abort();
    await asking?.ended;
  }

  async #ask(stop: AbortSignal): Promise<void> {
    const announcements = this.#source.announcements?.(() => this.notice());
    let asked = performance.now();
    while (!stop.aborted) {
      await setTimeout(EVERY, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) break;
      if (announcements?.isOpen === true && performance.now() - asked < SAFETY) continue;
      asked = performance.now();
      try {
        const [row] = await this.#source.rows(LAST);
        if (row?.last !== this.#last) this.notice();
        this.#last = row?.last;
      } catch {
        // Whoever reads next is told why the store is away.
      }
    }
    await announcements?.close();
  }
}
