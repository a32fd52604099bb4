/**
 * Requests what is pending for one reason, by key. What is too much for the source is requested in smaller groups, and a failure is
 * attributed to a key or to the source. This module stores nothing.
 */
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { CHILDREN, entryName, RECORD } from '../copy/quarantine-entry.ts';
import { isDirectFailure, isTooLarge, mayPassIfSmaller, RequestFailure } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';

const GROUP_ATTEMPTS = 2;
/** The number of keys in a row that the source cannot return, after which stored keys are requested to check the source. */
const PATIENCE = 3;
/** The number of stored keys that must fail before the failure is attributed to the source. */
const OTHERS = 3;
/** The number of stored keys from which these are chosen. */
const AMONG = 200;

/** The response to a request of keys, or why the source cannot return them. */
interface Answer {
  readonly keys: readonly string[];
  readonly page: SourcePage | RequestFailure;
}

/** Requests the pending keys of a resource, and remembers which of them the source could not return. */
export class PendingRequests {
  readonly #copy: Copy;
  readonly #resource: string;
  readonly #why: string;
  /** The keys that the source could not return although it may return others; `#inARow` counts the most recent ones. */
  readonly #failing = new Set<string>();
  #inARow = 0;

  constructor(copy: Copy, resource: string, why: string) {
    this.#copy = copy;
    this.#resource = resource;
    this.#why = why;
  }

  /** Requests the pending keys in order, in groups. Only the next group is requested while one is being stored. */
  async *answers(): AsyncGenerator<Answer> {
    const { feed, name, report, store } = this.#copy;
    const size = new PageSize(feed.someAtOnce, report);
    const next = async (after: string): Promise<{ answers: Answer[]; last: string } | undefined> => {
      const keys = await store.checkpoints.pending(name, this.#resource, this.#why, after, size.current);
      const last = keys.at(-1);
      if (last === undefined) return undefined;
      const answers = await this.#askFor(keys);
      for (const { keys, page } of answers) {
        if (!(page instanceof RequestFailure)) size.recordSuccess(page.weight, keys.length);
      }
      return { answers, last };
    };
    for (let coming = next(''); ; ) {
      const group = await coming;
      if (group === undefined) return;
      coming = next(group.last);
      coming.catch(() => undefined); // thrown when it is awaited
      yield* group.answers;
    }
  }

  /**
   * Requests a group of keys. If it is too much for the source, it is requested in halves, down to the key that causes the failure.
   */
  async #askFor(keys: readonly string[]): Promise<Answer[]> {
    // A group has few attempts, because it is halved anyway. A single key has all attempts, unless it has failed before.
    const { checkpoint } = this.#copy;
    const isKnown = keys.every((key) => checkpoint.isQuarantined(this.#resource, entryName(key, this.#why)));
    const attempts = keys.length > 1 || isKnown ? GROUP_ATTEMPTS : undefined;
    const asked = async (most?: number): Promise<Answer[]> => {
      const page = await this.#ask(keys, most);
      this.#inARow = 0;
      return [{ keys, page }];
    };
    try {
      return await asked(attempts);
    } catch (error) {
      if (!isDirectFailure(error)) throw error;
      // If the token itself is refused, further requests make it worse.
      if (error.status === 403) await this.checkSource(error);
      else if (!mayPassIfSmaller(error) && !isRejected(error)) {
        if (attempts === undefined || error.kind !== 'transient') throw error;
        return asked();
      }
      const [only = ''] = keys;
      if (keys.length === 1) {
        if (!isTooLarge(error)) await this.#noteFailed(only, error);
        return [{ keys, page: error }];
      }
      const middle = keys.length >> 1;
      const first = await this.#askFor(keys.slice(0, middle));
      return [...first, ...(await this.#askFor(keys.slice(middle)))];
    }
  }

  #ask(keys: readonly string[], attempts?: number): Promise<SourcePage> {
    const { feed } = this.#copy;
    if (this.#why === RECORD) return feed.recordsByKey(this.#resource, keys, attempts);
    const collections = this.#why === CHILDREN ? feed.capabilities.expansions : [this.#why];
    return feed.children(keys, collections, attempts);
  }

  /** Records that a key was not returned. @throws the failure, if the source does not return other keys either */
  async #noteFailed(key: string, failure: RequestFailure): Promise<void> {
    this.#failing.add(key);
    if (++this.#inARow >= PATIENCE) await this.checkSource(failure);
  }

  /** Requests a few stored keys. @throws the failure, if the source returns none of them either */
  async checkSource(failure: RequestFailure): Promise<void> {
    const { name, store } = this.#copy;
    const some = (after: string): Promise<readonly string[]> =>
      store.checkpoints.storedKeys(name, this.#resource, after, AMONG);
    const near = await some([...this.#failing].at(-1) ?? '');
    const first = await some('');
    const candidates = [near.at(-1), first[0], first[first.length >> 1], first.at(-1)];
    const good = candidates.flatMap((key) => (key === undefined || this.#failing.has(key) ? [] : [key]));
    for (const key of [...new Set(good)].slice(0, OTHERS)) {
      try {
        await this.#ask([key], GROUP_ATTEMPTS);
        this.#inARow = 0;
        return;
      } catch (error) {
        if (!isDirectFailure(error) || error.kind === 'stopped') throw error;
      }
    }
    throw failure;
  }
}

/** Whether the source rejects the request, possibly because of a key in it. */
const isRejected = ({ kind, status }: RequestFailure): boolean =>
  kind === 'rejected' && status !== undefined && status >= 400;
