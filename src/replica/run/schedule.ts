/** When the steps of a cycle run: each due step once, or each step on its own schedule until the signal is aborted. */
import { sleepUntil } from '../../shared/clock.ts';
import { settleAll } from '../../shared/promise-queue.ts';
import { dueAt } from '../checkpoint/checkpoint.ts';
import type { Schedule } from '../checkpoint/notes.ts';
import { clearTrouble, isTemporary, recordTrouble } from '../checkpoint/troubles.ts';
import type { Copy } from '../copy/copy.ts';
import { RequestFailure } from '../http/failure.ts';
import { delayAfter, LONG_DELAY, LONGEST_DELAY } from '../http/retry.ts';
import { isDownloaded } from '../machine/states.ts';
import { fetchFiles } from '../media/fetch-files.ts';
import type { SweepResult } from '../steps/sweep.ts';
import {
  collectionsOf,
  downloadAll,
  sweepAll,
  sweepOnlyCollections,
  updateAll,
  windowedCollections,
} from './cycle.ts';
import { ChangeFollower } from './follow.ts';
import { DEFAULT_INTERVALS, type ReplicateOptions } from './options.ts';

/**
 * Runs each step that is due once: the initial download or an update, then the purge, and the agents and offices. With `step`, runs
 * only that step, whether it is due or not.
 */
export async function replicateOnce(
  copy: Copy,
  { step, purgeEvery = DEFAULT_INTERVALS.purge }: Pick<ReplicateOptions, 'step' | 'purgeEvery'>,
): Promise<SweepResult> {
  const { checkpoint, environment, files } = copy;
  const { listings, accounts } = collectionsOf(copy);
  const every = [...listings, ...accounts];
  const begun = environment.clock.now();
  switch (step) {
    case 'initial':
      await downloadAll(copy, every);
      // Accounts of the native interface are copied by sweeping them.
      return sweepAll(copy, sweepOnlyCollections(every));
    case 'update': {
      await updateAll(copy, every);
      const result = await sweepAll(copy, sweepOnlyCollections(every));
      await checkpoint.recordStepDone('update', begun);
      return result;
    }
    case 'purge': {
      const result = await sweepAll(copy, every);
      if (result === 'done') await checkpoint.recordStepDone('purge', begun);
      return result;
    }
    case undefined: {
      await updateAll(copy, every);
      await checkpoint.recordStepDone('update', begun);
      const isDue = dueAt(checkpoint.get('schedule')?.purge, purgeEvery, begun) <= begun;
      const result = await sweepAll(copy, isDue ? every : sweepOnlyCollections(every));
      await checkpoint.recordStepDone('accounts', begun);
      if (isDue && result === 'done') await checkpoint.recordStepDone('purge', begun);
      if (files !== undefined) {
        await fetchFiles(copy, files);
        await checkpoint.recordStepDone('media', begun);
      }
      return result;
    }
  }
}

/**
 * Milliseconds between the position from which changes are followed and the first purge. Only a sweep that begins in a later second
 * of the source's clock shows that nothing was deleted before that position (checkpoint/chain.ts).
 */
const FOUNDED = 2000;

/** The wait after a sweep that did not complete, in milliseconds. */
const RECONSIDER = 3_600_000;

/** A copy that is opened again if its source changes. */
interface Watched {
  readonly copy: () => Copy;
  /** Opens the source again if it shows other fields or records than before. */
  readonly review: () => Promise<void>;
}

interface Task {
  readonly step: keyof Schedule;
  readonly every: () => number;
  /** Until when the step was unnecessary, in milliseconds since 1970. The step counts as done at that time. */
  readonly spared?: () => number | undefined;
  /** @returns whether the step was completed */
  readonly work: () => Promise<boolean>;
}

/**
 * Keeps a copy current until the signal is aborted. Updates, purges, and agents and offices run concurrently, each on its own
 * schedule. If the source or the network fails, the step is retried later, whatever the reason: a refused key may be accepted
 * again, and a redirect may disappear.
 * @throws LeaseLost, PlatError of the store
 */
export async function watch(
  { copy, review }: Watched,
  {
    updateEvery = DEFAULT_INTERVALS.update,
    purgeEvery = DEFAULT_INTERVALS.purge,
    accountsEvery = DEFAULT_INTERVALS.accounts,
    proofEvery = DEFAULT_INTERVALS.proof,
    follow = 'auto',
    limits = {},
  }: ReplicateOptions,
): Promise<void> {
  const downloaded = Promise.withResolvers<void>();
  const follower = new ChangeFollower(copy, review, { follow, limits });
  const update = async (): Promise<boolean> => {
    await follower.prepared;
    await review();
    const { listings } = collectionsOf(copy());
    if (!follower.keepsCurrent(listings)) await updateAll(copy(), listings);
    downloaded.resolve();
    return true;
  };
  const accounts = async (): Promise<boolean> => {
    await follower.prepared;
    const collections = collectionsOf(copy()).accounts;
    if (!follower.keepsCurrent(collections)) await updateAll(copy(), collections);
    return (await sweepAll(copy(), sweepOnlyCollections(collections))) === 'done';
  };
  const purge = async (): Promise<boolean> => {
    // The collections that only sweeps keep current are swept with the accounts instead.
    const every = copy().feed.capabilities.resources;
    const windowedOnly = every.filter((collection) => !sweepOnlyCollections(every).includes(collection));
    return (await sweepAll(copy(), windowedOnly)) === 'done';
  };
  const media = async (): Promise<boolean> => {
    const { files } = copy();
    if (files !== undefined) await fetchFiles(copy(), files);
    return true;
  };
  const stop = new AbortController();
  const ends = AbortSignal.any([copy().signal, stop.signal]);
  ends.addEventListener('abort', () => downloaded.resolve(), { once: true });
  if (ends.aborted) downloaded.resolve();
  // The first task that fails ends the others.
  const run = (task: Task): Promise<void> =>
    repeatTask(copy, task, ends).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
  const purging: Task = {
    step: 'purge',
    every: () => (follower.keepsCurrent(windowedCollections(copy())) ? proofEvery : purgeEvery),
    // Until then, the source reported every change, so there was nothing for a purge to find.
    spared: () =>
      follower.keepsCurrent(windowedCollections(copy())) ? undefined : copy().checkpoint.get('chain')?.level,
    work: purge,
  };
  // A complete copy needs no update before its purge.
  const skipDownload = async (): Promise<void> => {
    const { checkpoint, environment } = copy();
    if (!windowedCollections(copy()).every((each) => isDownloaded(checkpoint.load(each)))) return;
    await environment.clock.sleep(FOUNDED, ends);
    downloaded.resolve();
  };
  await settleAll([
    follower.prepared.then(skipDownload),
    follower.run(ends).catch((error: unknown) => {
      stop.abort();
      throw error;
    }),
    run({ step: 'update', every: () => updateEvery, work: update }),
    run({ step: 'accounts', every: () => accountsEvery, work: accounts }),
    // The purge waits for the download: before it, there is nothing to compare.
    downloaded.promise.then(() => run(purging)),
    ...(copy().files === undefined ? [] : [run({ step: 'media', every: () => updateEvery, work: media })]),
  ]);
}

/** When a step was last done or unnecessary. A step that was never done, or that was requested, does not count as unnecessary. */
const lastDoneOrSpared = (
  done: number | undefined,
  spared: number | undefined,
  now: number,
): number | undefined =>
  done === undefined || spared === undefined || spared > now ? done : Math.max(done, spared);

async function repeatTask(
  copy: () => Copy,
  { step, every, spared, work }: Task,
  ends: AbortSignal,
): Promise<void> {
  const { name, store, report, environment } = copy();
  const { clock, random } = environment;
  let failures = 0;
  let tried: { readonly at: number; readonly wait: number } | undefined;
  const left = (): number => {
    const now = clock.now();
    const due = dueAt(
      lastDoneOrSpared(copy().checkpoint.get('schedule')?.[step], spared?.(), now),
      every(),
      now,
    );
    return Math.max(due, tried === undefined ? due : dueAt(tried.at, tried.wait, now)) - now;
  };
  for (;;) {
    await sleepUntil(clock, left, ends);
    if (ends.aborted) return;
    const begun = clock.now();
    try {
      if (await work()) await copy().checkpoint.recordStepDone(step, begun);
      else tried = { at: clock.now(), wait: Math.min(every(), RECONSIDER) };
      if (failures > 0) {
        await clearTrouble(store, name, step);
        report({ kind: 'recovered', step, attempts: failures + 1 });
      }
      failures = 0;
    } catch (error) {
      if (ends.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const delay = isTemporary(error) ? LONG_DELAY : LONGEST_DELAY;
      const wait = Math.min(every(), delayAfter(++failures, error.retryAfter, delay, random));
      await recordTrouble(store, name, step, error, clock.now());
      report({ kind: 'failed', step, reason: error.message, wait });
      tried = { at: clock.now(), wait };
    }
  }
}
