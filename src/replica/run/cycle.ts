import { isAboutAccounts } from '../copy/collections.ts';
import type { Copy } from '../copy/copy.ts';
import { ANOTHER_SOURCE, UNTOLD } from '../copy/states.ts';
import { ACCOUNTS } from '../source/source.ts';
import { download } from '../steps/download.ts';
import { type SweepResult, sweep } from '../steps/sweep.ts';
import { refresh, update } from '../steps/update.ts';

/** Times that a download is begun again because the key's view changed during its update. */
const MOST_REFRESHES = 3;

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

/** Windows of collections, after the download of those that have none yet. */
export async function updateAll(copy: Copy, collections: readonly string[]): Promise<void> {
  const { book } = copy;
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
  const { revision, fingerprint } = await feed.shown();
  const before = book.get('fingerprint');
  // A source that told of its fields before and does not now has not told that they went.
  const now = fingerprint ?? (before === ANOTHER_SOURCE ? UNTOLD : (before ?? UNTOLD));
  if (before === now) {
    if (revision !== book.get('revision')) await book.commit({ state: { revision } });
    return false;
  }
  if (before !== undefined) {
    const reason = 'the source shows something else than before';
    await refreshAll(copy, reason);
  } else await purgeAnew(copy);
  await book.commit({ state: { fingerprint: now, revision } });
  return before !== undefined;
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
