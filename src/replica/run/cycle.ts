/** The steps of a cycle: downloads, windows and sweeps of all collections, and when everything is read again. */
import { PUBLISHED_RESOURCES } from '../../compile/layout/index.ts';
import { settleAll } from '../../shared/promise-queue.ts';
import { rewriteDamaged } from '../../store/check/check-store.ts';
import { deleteMarks, dueAt } from '../checkpoint/checkpoint.ts';
import { ANOTHER_SOURCE, UNDESCRIBED } from '../checkpoint/notes.ts';
import { recordTrouble } from '../checkpoint/troubles.ts';
import type { Copy } from '../copy/copy.ts';
import { requireNewFoundation } from '../follow/chain.ts';
import { ACCOUNTS, isAboutAccounts, resourcesIn } from '../source/source.ts';
import { download } from '../steps/download.ts';
import { type SweepResult, sweep } from '../steps/sweep.ts';
import { refresh, update } from '../steps/update.ts';
import { findOlderRecord } from '../steps/witnesses.ts';

/** Times that a download is begun again because the key's view changed during its update. */
const MOST_REFRESHES = 3;
/** Milliseconds between two full downloads because of records that went back in time. */
const BACK_EVERY = 20 * 3_600_000;

const SHOWS_ELSE = 'the source shows something else than before';
const WENT_BACK = 'the source went back in time, as one that was restored from a backup';

/** The collections that have listings, and those that have agents and offices. */
export const collectionsOf = ({ feed }: Copy) => ({
  listings: feed.capabilities.resources.filter((collection) => !isAboutAccounts(collection)),
  accounts: feed.capabilities.resources.filter(isAboutAccounts),
});

/** Whether a collection is copied by windows; accounts of the native interface have none and are swept. */
const hasWindows = (collection: string): boolean => collection !== ACCOUNTS;

/** The collections that are copied by windows, or by the changes that the source reports. */
export const windowedCollections = ({ feed }: Pick<Copy, 'feed'>): string[] =>
  feed.capabilities.resources.filter(hasWindows);

/** The collections that only sweeps keep current. */
export const sweepOnlyCollections = (collections: readonly string[]): string[] =>
  collections.filter((collection) => !hasWindows(collection));

/** Runs work on collections with windows in parallel, each in its turn. */
const forEachWindowed = (
  { checkpoint }: Copy,
  collections: readonly string[],
  work: (collection: string) => Promise<void>,
): Promise<void> =>
  settleAll(
    collections
      .filter(hasWindows)
      .map((collection) => checkpoint.fetchInTurn(collection, () => work(collection))),
  );

/** The initial download of collections, as far as it is not complete. */
export const downloadAll = (copy: Copy, collections: readonly string[]): Promise<void> =>
  forEachWindowed(copy, collections, (collection) => download(copy, collection));

/** If the clock of the copy seems to have been set ahead, that of the source shows whether it is right. */
export async function confirmClock({ feed, store }: Pick<Copy, 'feed' | 'store'>): Promise<void> {
  if ((await store.clockJump()) > 0) await store.confirmClock(await feed.serverTime());
}

/** Windows of collections, after the download of those that have none yet. */
export async function updateAll(copy: Copy, collections: readonly string[]): Promise<void> {
  await confirmClock(copy);
  await refreshIfWentBack(copy, collections.filter(hasWindows));
  await forEachWindowed(copy, collections, async (collection) => {
    for (let round = 0; round < MOST_REFRESHES; round++) {
      await download(copy, collection);
      await update(copy, collection);
      if (copy.checkpoint.load(collection).kind === 'current') return;
    }
  });
}

const isIdle = ({ checkpoint }: Copy, collection: string): boolean =>
  ['idle', 'guarded'].includes(checkpoint.sweep(collection).kind);

/**
 * Sweeps collections one at a time. A sweep that was resumed does not see deletions before the position at which an earlier run
 * stopped, so that a complete one follows it.
 * @returns the worst of their results
 */
export async function sweepAll(copy: Copy, collections: readonly string[]): Promise<SweepResult> {
  const results: SweepResult[] = [];
  for (const collection of collections) {
    const isResumed = !isIdle(copy, collection);
    let result = await sweep(copy, collection);
    if (isResumed && result === 'done') result = await sweep(copy, collection);
    results.push(result);
    if (result !== 'guarded') await restoreTrust(copy, collection);
  }
  return results.find((result) => result !== 'done') ?? 'done';
}

/**
 * Compares what the source showed when it was discovered, its fields and which records, with what it showed before. When it is
 * something else, everything is read again, since no timestamp moves by that (reference: consumer, schema drift). The source is
 * not asked once more: it may have changed since its fields were taken over, and the change would count as known.
 */
export async function compareFingerprint(copy: Copy): Promise<boolean> {
  const { checkpoint, feed } = copy;
  const { revision, fingerprint, epoch = checkpoint.get('epoch') } = feed.discovered;
  const before = checkpoint.get('fingerprint');
  const epochBefore = checkpoint.get('epoch');
  const state = { revision, ...(epoch === undefined ? {} : { epoch }) };
  // A source that described its fields before and does not now has not removed them.
  const now = fingerprint ?? (before === ANOTHER_SOURCE ? UNDESCRIBED : (before ?? UNDESCRIBED));
  const wentBack = epochBefore !== undefined && epoch !== epochBefore;
  if (before === now && !wentBack) {
    if (revision !== checkpoint.get('revision')) await checkpoint.commit({ state });
    return false;
  }
  if (before !== undefined) await refreshAll(copy, wentBack ? WENT_BACK : SHOWS_ELSE);
  else await checkpoint.requestPurge();
  await checkpoint.commit({ state: { fingerprint: now, ...state } });
  return before !== undefined;
}

/**
 * Notices a source without epochs that went back in time, and reads everything again; not more often than once in a
 * while: if it seems to happen again and again, records go back and forth by themselves, and a person has to look.
 */
async function refreshIfWentBack(copy: Copy, collections: readonly string[]): Promise<void> {
  const { checkpoint, environment, name, store } = copy;
  for (const collection of collections) {
    const found = await checkpoint.fetchInTurn(collection, () => findOlderRecord(copy, collection));
    if (found === undefined) continue;
    const { key, was, is } = found;
    const words = `${WENT_BACK}: ${collection} ${key} is of ${is} and was of ${was}`;
    const now = environment.clock.now();
    if (dueAt(checkpoint.get('wentBack'), BACK_EVERY, now) > now) {
      const reason = `${words}. That happened before within a day; "plat replicate --refresh" reads everything again.`;
      await recordTrouble(store, name, 'source', new Error(reason), now);
      copy.report({ kind: 'doubt', reason });
      return;
    }
    await refreshAll(copy, words);
    await checkpoint.commit({ state: { wentBack: now } });
    return;
  }
}

/**
 * Reads everything again for a copy into which something else has written: no stored hash is trusted, and the data in
 * addition to the records is rebuilt before and after.
 */
export async function refreshUntrusted(copy: Copy, reason: string): Promise<void> {
  const { checkpoint, feed, name, store } = copy;
  const { resources } = feed.capabilities;
  await store.mend();
  const { stores } = await store.model();
  // Records that the store publishes itself come from no source.
  for (const resource of PUBLISHED_RESOURCES) if (stores(resource)) await rewriteDamaged(store, resource);
  for (const collection of resources) {
    // A mark that no sweep set would keep from a purge what the source does not have.
    if (!isIdle(copy, collection)) continue;
    for (const resource of resourcesIn(collection)) await deleteMarks(store, name, resource);
  }
  await checkpoint.commit({ state: { doubted: resources } });
  await refreshAll(copy, reason);
}

/** A collection that was read again completely, and swept, is trusted again. */
async function restoreTrust({ checkpoint, store }: Copy, collection: string): Promise<void> {
  const doubted = checkpoint.get('doubted') ?? [];
  if (!doubted.includes(collection)) return;
  if (hasWindows(collection) && !['current', 'updating'].includes(checkpoint.load(collection).kind)) return;
  await store.mend(collection);
  await checkpoint.commit({ state: { doubted: doubted.filter((each) => each !== collection) } });
}

/** Reads everything again that has windows, and makes the purge due: what others changed in the copy is corrected. */
export async function refreshAll(copy: Copy, reason: string): Promise<void> {
  for (const collection of windowedCollections(copy)) {
    await copy.checkpoint.fetchInTurn(collection, () => refresh(copy, collection, reason));
  }
  await requireNewFoundation(copy);
  await copy.checkpoint.requestPurge();
}
