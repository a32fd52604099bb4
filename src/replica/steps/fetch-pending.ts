/** Requests pending records and pending collections of listings. */
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import { requestFollowedPurge } from '../checkpoint/chain.ts';
import type { Copy } from '../copy/copy.ts';
import { changedChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { entryName, pendingEntry, RECORD } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { isTooLarge, RequestFailure } from '../http/failure.ts';
import { joinPages } from '../source/pages.ts';
import { collectionOf, type SourcePage } from '../source/source.ts';
import { absentFrom, LISTED_ONLY } from './find-absent.ts';
import { PendingRequests } from './pending-requests.ts';

/** Fetches everything that is pending for a resource, including collections that arrived incompletely. */
export async function fetchPending(copy: Copy, resource: string): Promise<void> {
  const { capabilities } = copy.feed;
  const collections =
    resource === 'Property'
      ? [...reasonsToFetchSeparately(capabilities, resource), ...capabilities.expansions]
      : [];
  for (const why of new Set([RECORD, ...collections])) await fetchKind(copy, resource, why);
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

/** The number of characters of responses that are stored together, since each commit changes most pages of the indexes. */
const HEAVY = 3_000_000;

/** Milliseconds after which responses are stored, so that a process that is killed loses only a few responses of a slow source. */
const LONGEST_HELD = 1000;

/**
 * Fetches what is pending for one reason. Keys that the source no longer has stop being pending; a purge deletes their records,
 * soon if a watch follows the changes of the source. A key for which the source fails or refuses, while it returns others, is
 * quarantined, and does not delay other keys.
 * @throws RequestFailure if the source returns nothing at all
 */
async function fetchKind(copy: Copy, resource: string, why: string): Promise<void> {
  const { environment, name, store, report } = copy;
  const step = why === RECORD ? 'fetch' : 'sub-data';
  const total = await store.checkpoints.pendingCount(name, resource, why);
  if (total === 0) return;
  report({ kind: 'step', resource, step, state: 'begun' });
  const requests = new PendingRequests(copy, resource, why);
  const failed = new Map<string, RequestFailure>();
  let done = 0;
  let held: UnstoredPages | undefined;
  const storeHeld = async (): Promise<void> => {
    if (held === undefined) return;
    const { keys, pages } = held;
    held = undefined;
    await storeAnswers(copy, resource, why, keys, joinPages(pages));
    done += keys.length;
    report({ kind: 'page', resource, step, rows: keys.length, done, total });
  };
  try {
    for await (const { keys, page } of requests.answers()) {
      if (page instanceof RequestFailure) {
        for (const key of keys) failed.set(key, page);
        continue;
      }
      held ??= { keys: [], pages: [], weight: 0, since: environment.clock.now() };
      held.keys.push(...keys);
      held.pages.push(page);
      held.weight += page.weight;
      const age = environment.clock.now() - held.since;
      // Absent records are requested once more, in groups of the size of their first request.
      if (why === RECORD || held.weight >= HEAVY || age >= LONGEST_HELD) await storeHeld();
    }
  } finally {
    await storeHeld();
  }
  // A response that is too large is not a failure of the source.
  const first = [...failed.values()].find((failure) => !isTooLarge(failure));
  if (first !== undefined && done === 0) await requests.checkSource(first);
  if (failed.size > 0) await giveUp(copy, resource, why, failed);
  report({ kind: 'step', resource, step, state: 'done' });
}

/** Stores the responses to requests of keys, which are no longer pending. */
async function storeAnswers(
  copy: Copy,
  resource: string,
  why: string,
  some: readonly string[],
  given: SourcePage,
): Promise<void> {
  const { checkpoint, report } = copy;
  const { page, absent, unreturned } =
    why === RECORD
      ? await askTwice(copy, resource, some, given)
      : { page: given, absent: [], unreturned: [] };
  if (why === RECORD) await noticeAbsent(copy, resource, some, page);
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
async function noticeAbsent(
  copy: Copy,
  resource: string,
  keys: readonly string[],
  page: SourcePage,
): Promise<void> {
  const { name, store } = copy;
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
  copy: Copy,
  resource: string,
  keys: readonly string[],
  page: SourcePage,
): Promise<{
  readonly page: SourcePage;
  readonly absent: readonly Keys[];
  readonly unreturned: readonly QuarantineEntry[];
}> {
  const { checkpoint, feed } = copy;
  const { byKey, isPlat } = feed.capabilities;
  if (byKey === 'none') return { page, absent: [], unreturned: [] };
  const missing = absentFrom(page, resource, keys);
  const entries = checkpoint.quarantined((of) => of.resource === resource && missing.has(of.key ?? ''));
  const listed = isPlat ? [] : await listedInSweep(copy, resource, [...missing]);
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
async function listedInSweep(
  copy: Copy,
  resource: string,
  keys: readonly string[],
): Promise<readonly string[]> {
  const { checkpoint, feed, name, store } = copy;
  const state = checkpoint.sweep(collectionOf(feed.capabilities, resource));
  if (state.kind !== 'fetching' || keys.length === 0) return [];
  const seen = await store.checkpoints.marked(name, resource, state.sweep, keys);
  return seen.length === 0 ? [] : store.checkpoints.missing(name, resource, seen);
}

/** Quarantines keys that the source cannot return. */
async function giveUp(
  copy: Copy,
  resource: string,
  why: string,
  failed: ReadonlyMap<string, RequestFailure>,
): Promise<void> {
  const { checkpoint, report } = copy;
  const what = why === RECORD ? 'the record' : 'its sub-resources';
  const quarantine = [...failed].map(([key, { message }]) =>
    pendingEntry(resource, key, why, `The source cannot return ${what}: ${message}`),
  );
  await checkpoint.commit({ quarantine, got: [{ resource, keys: [...failed.keys()], why }] });
  for (const { key, reason } of quarantine) report({ kind: 'quarantined', resource, key, reason });
}
