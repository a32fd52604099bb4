/**
 * The open streams of changes. Each has a position of its own, reads the following pages as fast as its client reads them, and then
 * waits for the next commit. It must not know how a request is parsed, or how an event is sent.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { platError } from '../../errors/index.ts';
import type { FeedPosition } from '../../store/changes/change-feed.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import { EventPages, type FollowRequest } from './event-pages.ts';
import { goneEvent, positionEvent, STREAM_PREAMBLE } from './event-text.ts';

/** Minimum milliseconds between two notifications of followers; commits in between are reported together. */
const BETWEEN_COMMITS = 10;
/** The number of followers that are notified before other events are processed. */
const AT_ONCE = 100;
/** Seconds after which a key with too many streams may retry. */
const RETRY_AFTER_SECONDS = 30;

interface Follower {
  readonly keyId: string;
  readonly following: FollowRequest;
  readonly read: ReadOptions;
  /** Waits in the queue of the key before a page is read. */
  readonly turn: () => Promise<void>;
}

interface StreamMetrics {
  readonly sent: (events: number) => void;
  readonly lag: (seconds: number) => void;
  readonly failed: (error: unknown) => void;
  /** Called when the commits of other processes are no longer announced, and have to be found by polling. */
  readonly unannounced: (error: unknown) => void;
}

interface StreamOptions {
  /** The maximum number of streams of one key. */
  readonly perKey: number;
  readonly metrics: StreamMetrics;
}

interface Stream extends Follower {
  /** Resumes the stream while it waits for a commit. */
  wake: (() => void) | undefined;
}

/** An admitted stream; its events are requested at most once. */
interface OpenStream {
  readonly kind: 'open';
  readonly events: (until: AbortSignal) => AsyncGenerator<string | Uint8Array>;
  close(): void;
}

type Source = Pick<Store, 'model' | 'now' | 'feed' | 'page' | 'watch'>;

export class EventStreams {
  readonly #store: Source;
  readonly #options: StreamOptions;
  readonly #pages: EventPages;
  readonly #streams = new Set<Stream>();
  #commits = 0;
  #isWaking = false;
  #unwatch: (() => void) | undefined;

  constructor(store: Source, options: StreamOptions) {
    this.#store = store;
    this.#options = options;
    this.#pages = new EventPages(store);
  }

  /**
   * Opens a stream after a position, unless the changes since then are no longer stored.
   * @throws PlatError `tooManyStreams`
   */
  async open(
    follower: Follower,
    since: FeedPosition | 'end',
  ): Promise<OpenStream | { readonly kind: 'gone'; readonly position: FeedPosition }> {
    const { perKey } = this.#options;
    const openStreams = this.#streams
      .values()
      .reduce((sum, { keyId }) => sum + Number(keyId === follower.keyId), 0);
    if (openStreams >= perKey) {
      throw platError(
        'tooManyStreams',
        { limit: perKey, seconds: RETRY_AFTER_SECONDS },
        { retryAfter: RETRY_AFTER_SECONDS },
      );
    }
    const stream: Stream = { ...follower, wake: undefined };
    const close = (): void => this.#remove(stream);
    this.#add(stream);
    try {
      const page =
        since === 'end'
          ? await this.#pages.endOfSequence(this.#commits)
          : await this.#pages.pageAfter(stream.following, since, this.#commits, stream.read);
      if (page.kind === 'gone') {
        close();
        return page;
      }
      const begin = since === 'end' ? page.position : since;
      return { kind: 'open', events: (until) => this.#events(stream, begin, until), close };
    } catch (error) {
      close();
      throw error;
    }
  }

  close(): void {
    for (const stream of this.#streams) this.#remove(stream);
    this.#pages.close();
  }

  async *#events(
    stream: Stream,
    begin: FeedPosition,
    until: AbortSignal,
  ): AsyncGenerator<string | Uint8Array> {
    const { metrics } = this.#options;
    const end = (): void => stream.wake?.();
    until.addEventListener('abort', end, { once: true });
    try {
      yield* this.#eventsAfter(stream, begin, until);
    } catch (error) {
      // The client reconnects, and then receives the reason.
      metrics.failed(error);
    } finally {
      until.removeEventListener('abort', end);
      this.#remove(stream);
    }
  }

  async *#eventsAfter(
    stream: Stream,
    begin: FeedPosition,
    until: AbortSignal,
  ): AsyncGenerator<string | Uint8Array> {
    const { following, read, turn } = stream;
    const { sent, lag } = this.#options.metrics;
    let position = begin;
    let isLevel = false;
    for (let isFirst = true; !until.aborted; isFirst = false) {
      const commits = this.#commits;
      // Followers that are up to date are notified of a commit together; one that is behind queues.
      if (!isLevel) await turn();
      const page = await this.#pages.pageAfter(following, position, commits, read);
      if (until.aborted) return;
      const isEnd = page.kind === 'events' && page.isLevel && page.text.length === 0;
      if (isFirst) yield `${STREAM_PREAMBLE}${positionEvent(position, isEnd)}`;
      if (page.kind === 'gone') {
        yield goneEvent(page.position);
        return;
      }
      if (isLevel && page.age !== undefined) lag(page.age / 1000);
      ({ position, isLevel } = page);
      if (page.text.length > 0) yield page.text;
      sent(page.events);
      if (isLevel) await this.#commitAfter(stream, commits, until);
    }
  }

  /** @param commits the number of commits that the follower knows of */
  #commitAfter(stream: Stream, commits: number, until: AbortSignal): Promise<void> {
    if (until.aborted || this.#commits !== commits) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.wake = () => {
      stream.wake = undefined;
      resolve();
    };
    return promise;
  }

  #committed(): void {
    this.#commits++;
    if (!this.#isWaking) void this.#wakeFollowers();
  }

  async #wakeFollowers(): Promise<void> {
    this.#isWaking = true;
    for (let woken: number | undefined; woken !== this.#commits; ) {
      woken = this.#commits;
      let count = 0;
      for (const { wake } of this.#streams) {
        wake?.();
        if (++count % AT_ONCE === 0) await setImmediate();
      }
      await setTimeout(BETWEEN_COMMITS);
    }
    this.#isWaking = false;
  }

  #add(stream: Stream): void {
    this.#streams.add(stream);
    const { unannounced } = this.#options.metrics;
    this.#unwatch ??= this.#store.watch(() => this.#committed(), unannounced);
  }

  #remove(stream: Stream): void {
    stream.wake?.();
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }
}
