/** The steps of a cycle: downloads, windows and sweeps of all collections. Also determines when everything has to be read again. */
import { PUBLISHED_RESOURCES } from '../../compile/layout/index.ts';
import { settleAll } from '../../shared/promise-queue.ts';
import { rewriteDamaged } from '../../store/check/check-store.ts';
import { requireNewFoundation } from '../checkpoint/chain.ts';
import { deleteMarks, dueAt } from '../checkpoint/checkpoint.ts';
import { ANOTHER_SOURCE, UNDESCRIBED } from '../checkpoint/notes.ts';
import { recordTrouble } from '../checkpoint/troubles.ts';
import type { Copy } from '../copy/copy.ts';
import { isDownloaded } from '../machine/states.ts';
import { ACCOUNTS, isAboutAccounts, resourcesIn } from '../source/source.ts';
import { download, refresh, update } from '../steps/load.ts';
import { type SweepResult, sweep } from '../steps/sweep.ts';
import { findOlderRecord } from '../steps/witnesses.ts';

/** How often a download is repeated because the view of the key changed during its update. */
const MOST_REFRESHES = 3;
/** The minimum milliseconds between two full downloads because records went back in time. */
const BACK_EVERY = 20 * 3_600_000;

const SHOWS_ELSE = 'the source shows other fields or records than before';
const WENT_BACK = 'the source went back in time, as after a restore from a backup';

/** The collections of listings, and those of agents and offices. */
export const collectionsOf = ({ feed }: Copy) => ({
  listings: feed.capabilities.resources.filter((collection) => !isAboutAccounts(collection)),
  accounts: feed.capabilities.resources.filter(isAboutAccounts),
});

/** Whether a collection is copied by windows. The accounts of the native interface have no windows, and are swept instead. */
const hasWindows = (collection: string): boolean => collection !== ACCOUNTS;

/** The collections that are copied by windows, or by the changes that the source reports. */
export const windowedCollections = ({ feed }: Pick<Copy, 'feed'>): string[] =>
  feed.capabilities.resources.filter(hasWindows);

/** The collections that only sweeps keep current. */
export const sweepOnlyCollections = (collections: readonly string[]): string[] =>
  collections.filter((collection) => !hasWindows(collection));

/** Runs work on all collections with windows in parallel, but on each collection only one piece of work at a time. */
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

/** Completes the initial download of collections. */
export const downloadAll = (copy: Copy, collections: readonly string[]): Promise<void> =>
  forEachWindowed(copy, collections, (collection) => download(copy, collection));

/** Compares the clock of the store with the source's if the store seems to have been written with a clock that was ahead. */
export async function confirmClock({ feed, store }: Pick<Copy, 'feed' | 'store'>): Promise<void> {
  if ((await store.clockJump()) > 0) await store.confirmClock(await feed.serverTime());
}

/** Reads windows of collections, after downloading those that have not been downloaded yet. */
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
 * Sweeps collections one at a time. A resumed sweep does not notice deletions before the position at which the earlier run stopped,
 * so a complete sweep follows it.
 * @returns `done` if all sweeps were, otherwise the first other result
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
 * Compares the fields and the view of records that the source showed when it was discovered with those that it showed before. If
 * they differ, everything is read again, since such a change moves no timestamp (reference: consumer, schema drift). The source is
 * not queried once more: it may have changed since its fields were declared, and that change would then go unnoticed.
 */
export async function compareFingerprint(copy: Copy): Promise<boolean> {
  const { checkpoint, feed } = copy;
  const { revision, fingerprint, epoch = checkpoint.get('epoch') } = feed.discovered;
  const before = checkpoint.get('fingerprint');
  const epochBefore = checkpoint.get('epoch');
  const state = { revision, ...(epoch === undefined ? {} : { epoch }) };
  // If the source described its fields before but does not now, it has not removed them.
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
 * Detects that a source without epochs went back in time, and reads everything again, but at most once within a period. If it seems
 * to happen more often, the records of the source change back and forth, and an operator has to examine that.
 */
async function refreshIfWentBack(copy: Copy, collections: readonly string[]): Promise<void> {
  const { checkpoint, environment, name, store } = copy;
  for (const collection of collections) {
    const found = await checkpoint.fetchInTurn(collection, () => findOlderRecord(copy, collection));
    if (found === undefined) continue;
    const { key, was, is } = found;
    const words = `${WENT_BACK}: ${collection} ${key} has the timestamp ${is}, and had ${was}`;
    const now = environment.clock.now();
    if (dueAt(checkpoint.get('wentBack'), BACK_EVERY, now) > now) {
      const reason = `${words}. This has happened before within a day; "plat replicate --refresh" reads everything again.`;
      await recordTrouble(store, name, 'source', new Error(reason), now);
      copy.report({ kind: 'doubt', reason });
      return;
    }
    await refreshAll(copy, words);
    await checkpoint.commit({ state: { wentBack: now } });
    return;
  }
}

/** Reads everything again for a copy into which something else has written. No hash is trusted, and derived data is rebuilt. */
export async function refreshUntrusted(copy: Copy, reason: string): Promise<void> {
  const { checkpoint, feed, name, store } = copy;
  const { resources } = feed.capabilities;
  await store.mend();
  const { stores } = await store.model();
  // The source cannot correct the records that the store itself publishes.
  for (const resource of PUBLISHED_RESOURCES) if (stores(resource)) await rewriteDamaged(store, resource);
  for (const collection of resources) {
    // A mark that no sweep has set would protect a record that the source does not have from a purge.
    if (!isIdle(copy, collection)) continue;
    for (const resource of resourcesIn(collection)) await deleteMarks(store, name, resource);
  }
  await checkpoint.commit({ state: { doubted: resources } });
  await refreshAll(copy, reason);
}

/** Trusts a collection again if it has been read again completely, and swept. */
async function restoreTrust({ checkpoint, store }: Copy, collection: string): Promise<void> {
  const doubted = checkpoint.get('doubted') ?? [];
  if (!doubted.includes(collection)) return;
  if (hasWindows(collection) && !isDownloaded(checkpoint.load(collection))) return;
  await store.mend(collection);
  await checkpoint.commit({ state: { doubted: doubted.filter((each) => each !== collection) } });
}

/**
 * Reads all collections with windows again, and makes the purge due. This also corrects changes that something else made in the
 * copy.
 */
export async function refreshAll(copy: Copy, reason: string): Promise<void> {
  for (const collection of windowedCollections(copy)) {
    await copy.checkpoint.fetchInTurn(collection, () => refresh(copy, collection, reason));
  }
  await requireNewFoundation(copy);
  await copy.checkpoint.requestPurge();
}
