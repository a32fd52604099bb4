/**
 * Notices commits to the sequence of changes, once for all followers in this process: immediately if this process commits or the
 * engine announces a commit, otherwise by polling the last number. It polls only while there are followers. It knows neither
 * engines nor the content of a commit.
 */
import { setTimeout } from 'node:timers/promises';
import { type Sql, sql } from '../../compile/fragment.ts';
import type { Row } from '../session.ts';

/** Waits for a number of milliseconds; an aborted signal ends the wait early. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Receives the commits of other processes. */
export interface AnnouncementListener {
  /** Called at each announcement, and if some may have been missed. */
  commitAnnounced(): void;
  /** Called once, with the reason, when commits are no longer announced, until they are again. */
  announcementsLost(error: unknown): void;
}

/** How an engine learns of the commits of other processes. */
interface Announcements {
  /** Whether every commit is announced from now on. A connection that is lost and reopened announces what it missed. */
  readonly isOpen: boolean;
  close(): Promise<void>;
}

/** Receives the events of a connection that listens for commits. */
interface ConnectionListener {
  /** Called as soon as every later commit will be announced. */
  opened(): void;
  announced(): void;
}

/** Listens for the commits of other processes until the connection or the signal ends. @throws the error that ended it */
export type Listen = (listening: ConnectionListener, signal: AbortSignal) => Promise<never>;

/** Milliseconds until a lost connection is reopened; the pause doubles with each failed attempt. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

/** Announces commits on a connection that is reopened when it is lost, with growing pauses while that fails. */
export function listenForCommits(
  listen: Listen,
  { commitAnnounced: heard, announcementsLost: lost }: AnnouncementListener,
  pause: Pause,
): Announcements {
  const ended = new AbortController();
  let isOpen = false;
  let isReported = false;
  /** The number of connections that were lost, or failed, since the last announcement. */
  let failures = 0;
  const listening: ConnectionListener = {
    opened() {
      isOpen = true;
      isReported = false;
      // Commits between the loss of the previous connection and this moment were not announced.
      heard();
    },
    announced() {
      failures = 0;
      heard();
    },
  };
  const keepListening = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        await listen(listening, ended.signal);
      } catch (error) {
        isOpen = false;
        if (ended.signal.aborted) break;
        // Only the first failure is reported.
        if (!isReported) lost(error);
        isReported = true;
        await pause(Math.min(FIRST_PAUSE * 2 ** failures++, LONGEST_PAUSE), ended.signal);
      }
    }
  };
  const kept = keepListening();
  return {
    get isOpen() {
      return isOpen;
    },
    close() {
      ended.abort();
      return kept;
    },
  };
}

interface CommitSource {
  rows(statement: Sql): Promise<readonly Row[]>;
  /** Absent: the engine receives no announcements. */
  readonly announcements?: ((hearing: AnnouncementListener, pause: Pause) => Announcements) | undefined;
}

/**
 * Milliseconds between two polls. While commits are announced, only every tenth poll is made, as a safety net; likewise
 * if the store could not be reached, since polling does not bring it back.
 */
const POLL_INTERVAL = 100;
const POLLS_PER_SAFETY_POLL = 10;

const LAST = sql`SELECT max(seq) AS last FROM plat_changes`;

const sleep: Pause = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);

/** The callbacks of a follower. */
interface Listener {
  readonly committed: () => void;
  readonly lost: ((error: unknown) => void) | undefined;
}

export class CommitWatch {
  readonly #source: CommitSource;
  readonly #pause: Pause;
  readonly #listeners = new Set<Listener>();
  #last: unknown;
  /** Aborts the polling; undefined while there are no followers. */
  #asking: AbortController | undefined;
  /** Resolves when all polling that was aborted has stopped. */
  #ended: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(source: CommitSource, pause: Pause = sleep) {
    this.#source = source;
    this.#pause = pause;
  }

  /**
   * Calls `committed` after every commit, and sometimes when there was none.
   * @param lost called when the commits of other processes are no longer announced, and polling begins
   * @returns a function that stops the calls
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

  /** Reports a commit of this process. */
  notice(): void {
    for (const { committed } of this.#listeners) committed();
  }

  /** Stops all calls. Resolves when all polling has stopped, including that of earlier watches. */
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
    const hearing: AnnouncementListener = {
      commitAnnounced: () => this.notice(),
      announcementsLost: (error) => {
        for (const { lost } of this.#listeners) lost?.(error);
      },
    };
    const announcements = this.#source.announcements?.(hearing, this.#pause);
    let isAway = false;
    let passed = 0;
    while (!stop.aborted) {
      await this.#pause(POLL_INTERVAL, stop);
      if (stop.aborted) break;
      passed++;
      if ((isAway || announcements?.isOpen === true) && passed < POLLS_PER_SAFETY_POLL) continue;
      passed = 0;
      try {
        const [row] = await this.#source.rows(LAST);
        if (row?.last !== this.#last) this.notice();
        this.#last = row?.last;
        isAway = false;
      } catch {
        // The next reader receives the reason why the store is unavailable.
        isAway = true;
      }
    }
    await announcements?.close();
  }
}
