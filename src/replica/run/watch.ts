import { sleepUntil } from '../../store/clock.ts';
import type { Schedule } from '../checkpoint/notes.ts';
import { clearTrouble, noteTrouble, passesByItself } from '../checkpoint/troubles.ts';
import type { Copy } from '../copy/copy.ts';
import { dueAt, noteDone } from '../copy/schedule.ts';
import { RequestFailure } from '../http/failure.ts';
import { LONG_REST, LONGEST_REST, restAfter } from '../http/retry.ts';
import { fetchFiles } from '../media/fetch-files.ts';
import { isAboutAccounts } from '../source/source.ts';
import { accountsOf, listingsOf, sweepAll, sweptOnly, updateAll } from './cycle.ts';
import { EVERY, type ReplicateOptions } from './options.ts';

/** The wait after a sweep that did not come to its end by itself. */
const RECONSIDER = 3_600_000;

/** A copy that is opened anew when its source shows something else. */
export interface Watched {
  readonly copy: () => Copy;
  /** Asks the source anew what it is, if it shows something else than before. */
  readonly review: () => Promise<void>;
}

interface Task {
  readonly step: keyof Schedule;
  readonly every: number;
  /** @returns whether the step was done whole */
  readonly work: () => Promise<boolean>;
}

/**
 * Keeps a copy current until the signal: updates, purges, and agents and offices, each on its own schedule and beside
 * the others. A step that the source or the network fails is tried again later, whatever was said: a key that is refused
 * may be let in again, an address that leads elsewhere may lead home.
 * @throws LeaseLost, PlatError of the store
 */
export async function watch(
  { copy, review }: Watched,
  { updateEvery = EVERY.update, purgeEvery = EVERY.purge, accountsEvery = EVERY.accounts }: ReplicateOptions,
): Promise<void> {
  const downloaded = Promise.withResolvers<void>();
  const update: Task = {
    step: 'update',
    every: updateEvery,
    work: async () => {
      await review();
      await updateAll(copy(), listingsOf(copy()));
      downloaded.resolve();
      return true;
    },
  };
  const accounts: Task = {
    step: 'accounts',
    every: accountsEvery,
    work: async () => {
      await updateAll(copy(), accountsOf(copy()));
      return (await sweepAll(copy(), sweptOnly(accountsOf(copy())))) === 'done';
    },
  };
  const purge: Task = {
    step: 'purge',
    every: purgeEvery,
    work: async () => {
      const { capabilities } = copy().feed;
      const own = capabilities.resources.filter(
        (name) => !isAboutAccounts(name) || !sweptOnly([name]).includes(name),
      );
      return (await sweepAll(copy(), own)) === 'done';
    },
  };
  const media: Task = {
    step: 'media',
    every: updateEvery,
    work: async () => {
      const { files } = copy();
      if (files !== undefined) await fetchFiles(copy(), files);
      return true;
    },
  };
  const stop = new AbortController();
  const ends = AbortSignal.any([copy().signal, stop.signal]);
  ends.addEventListener('abort', () => downloaded.resolve(), { once: true });
  if (ends.aborted) downloaded.resolve();
  const guarded = (loop: Promise<void>): Promise<void> =>
    loop.catch((error: unknown) => {
      stop.abort();
      throw error;
    });
  const results = await Promise.allSettled([
    guarded(repeat(copy, update, ends)),
    guarded(repeat(copy, accounts, ends)),
    // What was not downloaded yet is not compared.
    guarded(downloaded.promise.then(() => repeat(copy, purge, ends))),
    guarded(copy().files === undefined ? Promise.resolve() : repeat(copy, media, ends)),
  ]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function repeat(copy: () => Copy, { step, every, work }: Task, ends: AbortSignal): Promise<void> {
  const { name, store, tell } = copy();
  const { clock, random } = copy().environment;
  let failures = 0;
  let tried: { readonly at: number; readonly wait: number } | undefined;
  const left = (): number => {
    const now = clock.now();
    const due = dueAt(copy().book.get('schedule')?.[step], every, now);
    return Math.max(due, tried === undefined ? due : dueAt(tried.at, tried.wait, now)) - now;
  };
  for (;;) {
    await sleepUntil(clock, left, ends);
    if (ends.aborted) return;
    const begun = clock.now();
    try {
      if (await work()) await noteDone(copy(), step, begun);
      else tried = { at: clock.now(), wait: Math.min(every, RECONSIDER) };
      if (failures > 0) {
        await clearTrouble(store, name, step);
        tell({ kind: 'recovered', step, attempts: failures + 1 });
      }
      failures = 0;
    } catch (error) {
      if (ends.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const rest = passesByItself(error) ? LONG_REST : LONGEST_REST;
      const wait = Math.min(every, restAfter(++failures, error.retryAfter, rest, random));
      await noteTrouble(store, name, step, error, clock.now());
      tell({ kind: 'failed', step, reason: error.message, wait });
      tried = { at: clock.now(), wait };
    }
  }
}
