/** Requests pending records and pending collections of listings. */
import type { Keys } from '../../store/checkpoint/checkpoints.ts';
import type { Copy } from '../copy/copy.ts';
import { HEAVY, PageSize } from '../copy/page-size.ts';
import { fetchedApart } from '../copy/pending-fetches.ts';
import { CHILDREN, entryName, pendingEntry, RECORD } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { asksTooMuch, isOfRequest, isTooLarge, RequestFailure } from '../http/failure.ts';
import { joinPages } from '../source/pages.ts';
import type { SourcePage } from '../source/source.ts';
import { absentFrom } from './absent.ts';
import { ErrorAttribution } from './error-attribution.ts';
import { requestFollowedPurge } from './foundation.ts';

const GROUP_ATTEMPTS = 2;

/** Fetches everything that is pending of a resource, including collections that were incomplete. */
export async function fetchPending(copy: Copy, resource: string): Promise<void> {
  const { capabilities } = copy.feed;
  const collections =
    resource === 'Property' ? [...fetchedApart(capabilities, resource), ...capabilities.expansions] : [];
  for (const why of new Set([RECORD, ...collections])) await new Fetch(copy, resource, why).run();
}

interface Answered {
  readonly some: readonly string[];
  readonly page: SourcePage | RequestFailure;
}

/** Answers that are stored together, since a transaction that stores a few small ones writes as much of the file as a large one. */
interface Held {
  readonly keys: string[];
  readonly pages: SourcePage[];
  weight: number;
  /** When the first of them arrived. */
  readonly since: number;
}

/** Milliseconds after which answers are stored, so that a process that is killed has lost few of the requests of a slow source. */
const LONGEST_HELD = 1000;

/** One kind of pending fetches of a resource. */
class Fetch {
  readonly #copy: Copy;
  readonly #resource: string;
  readonly #why: string;
  readonly #attribution: ErrorAttribution;

  constructor(copy: Copy, resource: string, why: string) {
    this.#copy = copy;
    this.#resource = resource;
    this.#why = why;
    this.#attribution = new ErrorAttribution(copy, resource, (key) => this.#ask([key], GROUP_ATTEMPTS));
  }

  /**
   * Keys that the source no longer has are no longer pending: a purge deletes their records, soon if a watch follows the changes of
   * the source. A key for which the source fails or refuses, while it returns others, is quarantined and holds nothing up.
   * @throws RequestFailure when the source returns nothing at all
   */
  async run(): Promise<void> {
    const { name, store, environment, report } = this.#copy;
    const [resource, why] = [this.#resource, this.#why];
    const step = why === RECORD ? 'fetch' : 'sub-data';
    const total = await store.checkpoints.pendingCount(name, resource, why);
    if (total === 0) return;
    report({ kind: 'step', resource, step, state: 'begun' });
    const failed = new Map<string, RequestFailure>();
    let done = 0;
    let held: Held | undefined;
    const storeHeld = async (): Promise<void> => {
      if (held === undefined) return;
      const { keys, pages } = held;
      held = undefined;
      await this.#store(keys, joinPages(pages));
      done += keys.length;
      report({ kind: 'page', resource, step, rows: keys.length, done, total });
    };
    try {
      for await (const answers of this.#groups()) {
        for (const { some, page } of answers) {
          if (page instanceof RequestFailure) {
            for (const key of some) failed.set(key, page);
            continue;
          }
          held ??= { keys: [], pages: [], weight: 0, since: environment.clock.now() };
          held.keys.push(...some);
          held.pages.push(page);
          held.weight += page.weight;
          const age = environment.clock.now() - held.since;
          // Records are requested once more if they are absent, in groups of the size of their first request.
          if (why === RECORD || held.weight >= HEAVY || age >= LONGEST_HELD) await storeHeld();
        }
      }
    } finally {
      await storeHeld();
    }
    // A response that is too large did arrive: the source returns what it has.
    const first = [...failed.values()].find((failure) => !isTooLarge(failure));
    if (first !== undefined && done === 0) await this.#attribution.checkSource(first);
    if (failed.size > 0) await this.#giveUp(failed);
    report({ kind: 'step', resource, step, state: 'done' });
  }

  async #store(some: readonly string[], given: SourcePage): Promise<void> {
    const { checkpoint, report } = this.#copy;
    const [resource, why] = [this.#resource, this.#why];
    const { page, absent } = why === RECORD ? await this.#askTwice(some, given) : { page: given, absent: [] };
    if (why === RECORD) await this.#noticeAbsent(some, page);
    // A record is released when it is stored; its sub-data has been read, or the source no longer has the listing.
    const entries = why === RECORD ? [] : some.map((key) => entryName(key, why));
    const release = entries.filter((entry) => checkpoint.isQuarantined(resource, entry));
    await storePage(this.#copy, page, () => ({
      got: [{ resource, keys: some, why }],
      release: [{ resource, keys: release }, ...absent],
    }));
    for (const each of absent) report({ kind: 'gone', ...each });
  }

  /** Whether to delete stored records that the source does not give is for a purge, which has a guard of its own. */
  async #noticeAbsent(keys: readonly string[], page: SourcePage): Promise<void> {
    const { name, store } = this.#copy;
    const absent = [...absentFrom(page, this.#resource, keys)];
    if (absent.length === 0) return;
    const missing = await store.checkpoints.missing(name, this.#resource, absent);
    if (missing.length < absent.length) await requestFollowedPurge(this.#copy);
  }

  /**
   * Asks again for quarantined records that the source did not return: what it does not give twice it no longer has.
   */
  async #askTwice(
    keys: readonly string[],
    page: SourcePage,
  ): Promise<{ readonly page: SourcePage; readonly absent: readonly Keys[] }> {
    const { checkpoint, feed } = this.#copy;
    const resource = this.#resource;
    if (feed.capabilities.byKey === 'none') return { page, absent: [] };
    const unreturned = absentFrom(page, resource, keys);
    const entries = checkpoint.quarantined((of) => of.resource === resource && unreturned.has(of.key ?? ''));
    const doubtful = [...new Set(entries.map(({ subject }) => subject.key ?? ''))];
    if (doubtful.length === 0) return { page, absent: [] };
    const again = await feed.some(resource, doubtful);
    const twice = absentFrom(again, resource, doubtful);
    return {
      page: joinPages([page, again]),
      absent: entries
        .filter(({ subject }) => twice.has(subject.key ?? ''))
        .map((each) => ({ resource: each.resource, keys: [each.key] })),
    };
  }

  /** Pending keys in their order. The next group is requested while one is being stored, and no further. */
  async *#groups(): AsyncGenerator<Answered[]> {
    const { feed, name, store, report } = this.#copy;
    const size = new PageSize(feed.someAtOnce, report);
    const ask = async (after: string): Promise<{ answers: Answered[]; last: string } | undefined> => {
      const keys = await store.checkpoints.pending(name, this.#resource, this.#why, after, size.now);
      const last = keys.at(-1);
      if (last === undefined) return undefined;
      const answers = await this.#askFor(keys);
      for (const { some, page } of answers) {
        if (!(page instanceof RequestFailure)) size.praise(page.weight, some.length);
      }
      return { answers, last };
    };
    for (let coming = ask(''); ; ) {
      const group = await coming;
      if (group === undefined) return;
      coming = ask(group.last);
      coming.catch(() => undefined); // thrown when it is awaited
      yield group.answers;
    }
  }

  /** Requests halves of a group that is too much for the source, down to the key that causes it. */
  async #askFor(keys: readonly string[]): Promise<Answered[]> {
    // A group that is too much is soon halved; all attempts go to the key that is left, the first time.
    const isKnown = keys.every((key) =>
      this.#copy.checkpoint.isQuarantined(this.#resource, entryName(key, this.#why)),
    );
    const attempts = keys.length > 1 || isKnown ? GROUP_ATTEMPTS : undefined;
    const asked = async (most?: number): Promise<Answered[]> => {
      const page = await this.#ask(keys, most);
      this.#attribution.succeeded();
      return [{ some: keys, page }];
    };
    try {
      return await asked(attempts);
    } catch (error) {
      if (!isOfRequest(error)) throw error;
      // Where the token itself is refused, to continue asking makes it worse.
      if (error.status === 403) await this.#attribution.checkSource(error);
      else if (!asksTooMuch(error) && !isRejected(error)) {
        if (attempts === undefined || error.kind !== 'transient') throw error;
        return asked();
      }
      const [only = ''] = keys;
      if (keys.length === 1) {
        if (!isTooLarge(error)) await this.#attribution.failed(only, error);
        return [{ some: keys, page: error }];
      }
      const middle = keys.length >> 1;
      const first = await this.#askFor(keys.slice(0, middle));
      return [...first, ...(await this.#askFor(keys.slice(middle)))];
    }
  }

  #ask(keys: readonly string[], attempts?: number): Promise<SourcePage> {
    const { feed } = this.#copy;
    if (this.#why === RECORD) return feed.some(this.#resource, keys, attempts);
    const collections = this.#why === CHILDREN ? feed.capabilities.expansions : [this.#why];
    return feed.children(keys, collections, attempts);
  }

  async #giveUp(failed: ReadonlyMap<string, RequestFailure>): Promise<void> {
    const { checkpoint, report } = this.#copy;
    const [resource, why] = [this.#resource, this.#why];
    const what = why === RECORD ? 'the record' : 'its sub-resources';
    const quarantine = [...failed].map(([key, { message }]) =>
      pendingEntry(resource, key, why, `The source cannot return ${what}: ${message}`),
    );
    await checkpoint.commit({ quarantine, got: [{ resource, keys: [...failed.keys()], why }] });
    for (const { key, reason } of quarantine) report({ kind: 'quarantined', resource, key, reason });
  }
}

/** Whether the source rejects the request, possibly because of a key in it. */
const isRejected = ({ kind, status }: RequestFailure): boolean =>
  kind === 'rejected' && status !== undefined && status >= 400;
