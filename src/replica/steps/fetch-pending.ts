/** Requests pending records and pending collections of listings. */
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import type { Copy } from '../copy/copy.ts';
import { HEAVY_RESPONSE, PageSize } from '../copy/page-size.ts';
import { changedChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { CHILDREN, entryName, pendingEntry, RECORD } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { requestFollowedPurge } from '../follow/chain.ts';
import { isDirectFailure, isTooLarge, mayPassIfSmaller, RequestFailure } from '../http/failure.ts';
import { joinPages } from '../source/pages.ts';
import { collectionOf, type SourcePage } from '../source/source.ts';
import { absentFrom, LISTED_ONLY } from './find-absent.ts';

const GROUP_ATTEMPTS = 2;

/** Fetches everything that is pending for a resource, including collections that arrived incompletely. */
export async function fetchPending(copy: Copy, resource: string): Promise<void> {
  const { capabilities } = copy.feed;
  const collections =
    resource === 'Property'
      ? [...reasonsToFetchSeparately(capabilities, resource), ...capabilities.expansions]
      : [];
  for (const why of new Set([RECORD, ...collections])) await fetchKind(copy, resource, why);
}

interface Answered {
  readonly some: readonly string[];
  readonly page: SourcePage | RequestFailure;
}

/**
 * Responses that are stored together, because a transaction for a few small responses writes nearly as much of the file as one for
 * many.
 */
interface UnstoredPages {
  readonly keys: string[];
  readonly pages: SourcePage[];
  weight: number;
  /** When the first of these responses arrived. */
  readonly since: number;
}

/** Milliseconds after which responses are stored, so that a process that is killed loses only a few responses of a slow source. */
const LONGEST_HELD = 1000;

/** The number of keys in a row that the source cannot return, after which stored keys are requested to check the source. */
const PATIENCE = 3;
/** The number of stored keys that must fail before the failure is attributed to the source. */
const OTHERS = 3;
/** The number of stored keys from which these are chosen. */
const AMONG = 200;

/**
 * Fetches what is pending for one reason. Keys that the source no longer has stop being pending; a purge deletes their records,
 * soon if a watch follows the changes of the source. A key for which the source fails or refuses, while it returns others, is
 * quarantined, and does not delay other keys.
 * @throws RequestFailure if the source returns nothing at all
 */
async function fetchKind(copy: Copy, resource: string, why: string): Promise<void> {
  const { checkpoint, environment, feed, name, store, report } = copy;
  /** The keys that the source could not return although it may return others; `inARow` counts the most recent ones. */
  const failing = new Set<string>();
  let inARow = 0;
  const step = why === RECORD ? 'fetch' : 'sub-data';
  const total = await store.checkpoints.pendingCount(name, resource, why);
  if (total === 0) return;
  report({ kind: 'step', resource, step, state: 'begun' });
  const failed = new Map<string, RequestFailure>();
  let done = 0;
  let held: UnstoredPages | undefined;
  const storeHeld = async (): Promise<void> => {
    if (held === undefined) return;
    const { keys, pages } = held;
    held = undefined;
    await storeAnswers(keys, joinPages(pages));
    done += keys.length;
    report({ kind: 'page', resource, step, rows: keys.length, done, total });
  };
  try {
    for await (const answers of groups()) {
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
        // Absent records are requested once more, in groups of the size of their first request.
        if (why === RECORD || held.weight >= HEAVY_RESPONSE || age >= LONGEST_HELD) await storeHeld();
      }
    }
  } finally {
    await storeHeld();
  }
  // A response that is too large is not a failure of the source.
  const first = [...failed.values()].find((failure) => !isTooLarge(failure));
  if (first !== undefined && done === 0) await checkSource(first);
  if (failed.size > 0) await giveUp(failed);
  report({ kind: 'step', resource, step, state: 'done' });

  async function storeAnswers(some: readonly string[], given: SourcePage): Promise<void> {
    const { page, absent, unreturned } =
      why === RECORD ? await askTwice(some, given) : { page: given, absent: [], unreturned: [] };
    if (why === RECORD) await noticeAbsent(some, page);
    // The entry of a record is released when the record is stored. That of sub-resources is released here: they have been read, or
    // the source no longer has the listing.
    const entries = why === RECORD ? [] : some.map((key) => entryName(key, why));
    const release = entries.filter((entry) => checkpoint.isQuarantined(resource, entry));
    await storePage(copy, page, async (intake) => ({
      // A record that was requested by its key arrives without its sub-resources if the source does not expand them.
      want: why === RECORD ? await changedChildren(copy, resource, intake) : [],
      got: [{ resource, keys: some, why }],
      release: [{ resource, keys: release }, ...absent],
    }));
    if (unreturned.length > 0) await checkpoint.commit({ quarantine: unreturned });
    for (const { key, reason } of unreturned) report({ kind: 'quarantined', resource, key, reason });
    for (const each of absent) report({ kind: 'gone', ...each });
  }

  /** Leaves the deletion of stored records that the source no longer returns to a purge, which has a guard of its own. */
  async function noticeAbsent(keys: readonly string[], page: SourcePage): Promise<void> {
    const absent = [...absentFrom(page, resource, keys)];
    if (absent.length === 0) return;
    const missing = await store.checkpoints.missing(name, resource, absent);
    if (missing.length < absent.length) await requestFollowedPurge(copy);
  }

  /**
   * Requests again what the source did not return: quarantined records, and those that the current sweep has seen. A quarantined
   * record that is missing twice no longer exists at a plat source. Other sources may list records that they return for no key, so
   * only a purge releases their entries, and records that such a source lists are quarantined.
   */
  async function askTwice(
    keys: readonly string[],
    page: SourcePage,
  ): Promise<{
    readonly page: SourcePage;
    readonly absent: readonly Keys[];
    readonly unreturned: readonly QuarantineEntry[];
  }> {
    const { byKey, isPlat } = feed.capabilities;
    if (byKey === 'none') return { page, absent: [], unreturned: [] };
    const missing = absentFrom(page, resource, keys);
    const entries = checkpoint.quarantined((of) => of.resource === resource && missing.has(of.key ?? ''));
    const listed = isPlat ? [] : await listedInSweep([...missing]);
    const doubtful = [...new Set([...entries.map(({ subject }) => subject.key ?? ''), ...listed])];
    if (doubtful.length === 0) return { page, absent: [], unreturned: [] };
    const again = await feed.recordsByKey(resource, doubtful);
    const twice = absentFrom(again, resource, doubtful);
    const gone = isPlat ? entries.filter(({ subject }) => twice.has(subject.key ?? '')) : [];
    return {
      page: joinPages([page, again]),
      absent: gone.map((each) => ({ resource: each.resource, keys: [each.key] })),
      unreturned: listed
        .filter((key) => twice.has(key) && !checkpoint.isQuarantined(resource, key))
        .map((key) => pendingEntry(resource, key, RECORD, LISTED_ONLY)),
    };
  }

  /** The keys of records that are not stored although the sweep whose missing records are being fetched has seen them. */
  async function listedInSweep(keys: readonly string[]): Promise<readonly string[]> {
    const state = checkpoint.sweep(collectionOf(feed.capabilities, resource));
    if (state.kind !== 'fetching' || keys.length === 0) return [];
    const seen = await store.checkpoints.marked(name, resource, state.sweep, keys);
    return seen.length === 0 ? [] : store.checkpoints.missing(name, resource, seen);
  }

  /** Requests pending keys in order, in groups. Only the next group is requested while one is being stored. */
  async function* groups(): AsyncGenerator<Answered[]> {
    const size = new PageSize(feed.someAtOnce, report);
    const ask = async (after: string): Promise<{ answers: Answered[]; last: string } | undefined> => {
      const keys = await store.checkpoints.pending(name, resource, why, after, size.current);
      const last = keys.at(-1);
      if (last === undefined) return undefined;
      const answers = await askFor(keys);
      for (const { some, page } of answers) {
        if (!(page instanceof RequestFailure)) size.recordSuccess(page.weight, some.length);
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

  /**
   * Requests a group of keys. If it is too much for the source, it is requested in halves, down to the key that causes the failure.
   */
  async function askFor(keys: readonly string[]): Promise<Answered[]> {
    // A group has few attempts, because it is halved anyway. A single key has all attempts, unless it has failed before.
    const isKnown = keys.every((key) => checkpoint.isQuarantined(resource, entryName(key, why)));
    const attempts = keys.length > 1 || isKnown ? GROUP_ATTEMPTS : undefined;
    const asked = async (most?: number): Promise<Answered[]> => {
      const page = await ask(keys, most);
      inARow = 0;
      return [{ some: keys, page }];
    };
    try {
      return await asked(attempts);
    } catch (error) {
      if (!isDirectFailure(error)) throw error;
      // If the token itself is refused, further requests make it worse.
      if (error.status === 403) await checkSource(error);
      else if (!mayPassIfSmaller(error) && !isRejected(error)) {
        if (attempts === undefined || error.kind !== 'transient') throw error;
        return asked();
      }
      const [only = ''] = keys;
      if (keys.length === 1) {
        if (!isTooLarge(error)) await noteFailed(only, error);
        return [{ some: keys, page: error }];
      }
      const middle = keys.length >> 1;
      const first = await askFor(keys.slice(0, middle));
      return [...first, ...(await askFor(keys.slice(middle)))];
    }
  }

  function ask(keys: readonly string[], attempts?: number): Promise<SourcePage> {
    if (why === RECORD) return feed.recordsByKey(resource, keys, attempts);
    const collections = why === CHILDREN ? feed.capabilities.expansions : [why];
    return feed.children(keys, collections, attempts);
  }

  async function giveUp(failed: ReadonlyMap<string, RequestFailure>): Promise<void> {
    const what = why === RECORD ? 'the record' : 'its sub-resources';
    const quarantine = [...failed].map(([key, { message }]) =>
      pendingEntry(resource, key, why, `The source cannot return ${what}: ${message}`),
    );
    await checkpoint.commit({ quarantine, got: [{ resource, keys: [...failed.keys()], why }] });
    for (const { key, reason } of quarantine) report({ kind: 'quarantined', resource, key, reason });
  }

  /** Records that a key was not returned. @throws the failure, if the source does not return other keys either */
  async function noteFailed(key: string, failure: RequestFailure): Promise<void> {
    failing.add(key);
    if (++inARow >= PATIENCE) await checkSource(failure);
  }

  /** Requests a few stored keys. @throws the failure, if the source returns none of them either */
  async function checkSource(failure: RequestFailure): Promise<void> {
    const some = (after: string): Promise<readonly string[]> =>
      store.checkpoints.storedKeys(name, resource, after, AMONG);
    const near = await some([...failing].at(-1) ?? '');
    const first = await some('');
    const candidates = [near.at(-1), first[0], first[first.length >> 1], first.at(-1)];
    const good = candidates.flatMap((key) => (key === undefined || failing.has(key) ? [] : [key]));
    for (const key of [...new Set(good)].slice(0, OTHERS)) {
      try {
        await ask([key], GROUP_ATTEMPTS);
        inARow = 0;
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
