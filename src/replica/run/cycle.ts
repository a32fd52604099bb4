import { PUBLISHED } from '../../compile/layout/index.ts';
import { rewriteDamaged } from '../../store/check/check-store.ts';
import { ANOTHER_SOURCE, UNTOLD } from '../checkpoint/notes.ts';
import { noteTrouble } from '../checkpoint/troubles.ts';
import type { Copy } from '../copy/copy.ts';
import { dueAt } from '../copy/schedule.ts';
import { ACCOUNTS, isAboutAccounts, resourcesIn } from '../source/source.ts';
import { download } from '../steps/download.ts';
import { type SweepResult, sweep } from '../steps/sweep.ts';
import { refresh, update } from '../steps/update.ts';
import { findBackwards } from '../steps/witnesses.ts';

/** Times that a download is begun again because the key's view changed during its update. */
const MOST_REFRESHES = 3;
/** Milliseconds between two full downloads because of records that went back in time. */
const BACK_EVERY = 20 * 3_600_000;

const SHOWS_ELSE = 'the source shows something else than before';
const WENT_BACK = 'the source went back in time, as one that was restored from a backup';

export const listingsOf = ({ feed }: Copy): string[] =>
  feed.capabilities.resources.filter((collection) => !isAboutAccounts(collection));
export const accountsOf = ({ feed }: Copy): string[] =>
  feed.capabilities.resources.filter((collection) => isAboutAccounts(collection));

/** Whether a collection is copied by windows; accounts of the native interface have none and are swept. */
const hasWindows = (collection: string): boolean => collection !== ACCOUNTS;

/** The initial download of collections, as far as it is still to be done. */
export async function downloadAll(copy: Copy, collections: readonly string[]): Promise<void> {
  await together(collections.filter(hasWindows), (collection) =>
    copy.book.inTurn(collection, () => download(copy, collection)),
  );
}

/** Where the clock of the copy seems to have been set ahead, that of the source tells whether it is right. */
export async function confirmClock({ feed, store }: Pick<Copy, 'feed' | 'store'>): Promise<void> {
  if ((await store.clockJump()) > 0) await store.confirmClock(await feed.serverTime());
}

/** Windows of collections, after the download of those that have none yet. */
export async function updateAll(copy: Copy, collections: readonly string[]): Promise<void> {
  const { book } = copy;
  await confirmClock(copy);
  await compareTime(copy, collections.filter(hasWindows));
  await together(collections.filter(hasWindows), (collection) =>
    book.inTurn(collection, async () => {
      for (let round = 0; round < MOST_REFRESHES; round++) {
        await download(copy, collection);
        await update(copy, collection);
        if (book.load(collection).kind === 'current') return;
      }
    }),
  );
}

/**
 * Sweeps of collections, one after the other. What went behind the place where an earlier run stopped is seen by a
 * sweep that this one begins: it follows the one that was taken up.
 * @returns the worst of their results
 */
export async function sweepAll(copy: Copy, collections: readonly string[]): Promise<SweepResult> {
  const results: SweepResult[] = [];
  for (const collection of collections) {
    const { kind } = copy.book.sweep(collection);
    const isTakenUp = kind !== 'idle' && kind !== 'guarded';
    const result = await sweep(copy, collection);
    results.push(isTakenUp && result === 'done' ? await sweep(copy, collection) : result);
    if (results.at(-1) !== 'guarded') await believe(copy, collection);
  }
  return results.find((result) => result !== 'done') ?? 'done';
}

/** The collections that only sweeps keep current. */
export const sweptOnly = (collections: readonly string[]): string[] =>
  collections.filter((collection) => !hasWindows(collection));

/**
 * Compares what the source shows, its fields and which records, with what it showed before. When it is something else,
 * everything is read again, since no stamp moves by that (reference: consumer, schema drift).
 */
export async function compareFingerprint(copy: Copy): Promise<boolean> {
  const { book, feed } = copy;
  const { revision, fingerprint, epoch = book.get('epoch') } = await feed.shown();
  const before = book.get('fingerprint');
  const epochBefore = book.get('epoch');
  const told = epoch === undefined ? {} : { epoch };
  // A source that told of its fields before and does not now has not told that they went.
  const now = fingerprint ?? (before === ANOTHER_SOURCE ? UNTOLD : (before ?? UNTOLD));
  const wentBack = epochBefore !== undefined && epoch !== epochBefore;
  if (before === now && !wentBack) {
    if (revision !== book.get('revision')) await book.commit({ state: { revision, ...told } });
    return false;
  }
  if (before !== undefined) await refreshAll(copy, wentBack ? WENT_BACK : SHOWS_ELSE);
  else await purgeAnew(copy);
  await book.commit({ state: { fingerprint: now, revision, ...told } });
  return before !== undefined;
}

/**
 * Notices a source that tells no epoch and went back in time, and reads everything again; once a while: where it seems to
 * happen again and again, records go back and forth by themselves, and a person has to look.
 */
async function compareTime(copy: Copy, collections: readonly string[]): Promise<void> {
  const { book, environment, name, store } = copy;
  for (const collection of collections) {
    const found = await book.inTurn(collection, () => findBackwards(copy, collection));
    if (found === undefined) continue;
    const { key, was, is } = found;
    const told = `${WENT_BACK}: ${collection} ${key} is of ${is} and was of ${was}`;
    const now = environment.clock.now();
    if (dueAt(book.get('wentBack'), BACK_EVERY, now) > now) {
      const reason = `${told}. That happened before within a day; "plat replicate --refresh" reads everything again.`;
      await noteTrouble(store, name, 'source', new Error(reason), now);
      copy.tell({ kind: 'doubt', reason });
      return;
    }
    await refreshAll(copy, told);
    await book.commit({ state: { wentBack: now } });
    return;
  }
}

/**
 * Reads everything again for a copy that somebody wrote into: what is stored is believed nowhere, and what is kept
 * beside the records is made to agree with them before and after.
 */
export async function doubtAll(copy: Copy, reason: string): Promise<void> {
  const { book, feed, name, store } = copy;
  await store.mend();
  const { stores } = await store.model();
  // What the store says of itself comes from no source.
  for (const resource of PUBLISHED) if (stores(resource)) await rewriteDamaged(store, resource);
  for (const collection of feed.capabilities.resources) {
    const { kind } = book.sweep(collection);
    // A mark that no sweep set would keep from a purge what the source does not have.
    if (kind !== 'idle' && kind !== 'guarded') continue;
    for (const resource of resourcesIn(collection)) {
      while ((await store.ledger.forgetSeen(name, resource, Number.MAX_SAFE_INTEGER)) > 0);
    }
  }
  await book.commit({ state: { doubted: feed.capabilities.resources } });
  await refreshAll(copy, reason);
}

/** A collection that was read again whole, and swept, is believed again. */
async function believe({ book, store }: Copy, collection: string): Promise<void> {
  const doubted = book.get('doubted') ?? [];
  if (!doubted.includes(collection)) return;
  if (hasWindows(collection) && !['current', 'updating'].includes(book.load(collection).kind)) return;
  await store.mend(collection);
  await book.commit({ state: { doubted: doubted.filter((each) => each !== collection) } });
}

/** Reads everything again that has windows, and makes the purge due: what others changed in the copy is put right. */
export async function refreshAll(copy: Copy, reason: string): Promise<void> {
  for (const collection of copy.feed.capabilities.resources.filter(hasWindows)) {
    await copy.book.inTurn(collection, () => refresh(copy, collection, reason));
  }
  await purgeAnew(copy);
}

/** The next purge is due, and the download that comes before it is counted from its own end. */
async function purgeAnew({ book }: Copy): Promise<void> {
  await book.alone((commit) => {
    const { purge: _, downloaded: __, ...schedule } = book.get('schedule') ?? {};
    return commit({ state: { schedule } });
  });
}

/** Runs work for each, side by side; all come to their end before the first failure is told. */
async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(items.map(work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
