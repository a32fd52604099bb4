/**
 * Determines which collections a chain of reported changes keeps current by itself, without windows and sweeps: those that were
 * complete at a moment from which on the source has reported every change. Also renews this foundation of a chain.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { LoadState, SweepState } from '../machine/states.ts';
import type { Source } from '../source/source.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Foundation } from './notes.ts';

/** The overlap of windows and reported changes, in milliseconds, because concurrent commits may end out of timestamp order. */
const MARGIN = 60_000;
/** The precision of the start of a sweep, which is taken from the Date header of the source, in milliseconds. */
const SECOND = 1000;

/** Whether a download or windows have brought everything that was changed before a chain began. */
function hasReadWindows({ since, fresh }: Foundation, collection: string, load: LoadState): boolean {
  if (load.kind !== 'current') return false;
  return fresh.includes(collection) || Date.parse(load.cursor) >= Date.parse(since) + MARGIN;
}

/** Whether a sweep has found everything that was deleted before a chain began. */
export function hasSwept({ since, fresh }: Foundation, collection: string, sweep: SweepState): boolean {
  // After a download into an empty copy, there are no deletions to find.
  if (fresh.includes(collection)) return true;
  if (sweep.kind !== 'idle' || sweep.last === undefined || sweep.last.unsure) return false;
  return Date.parse(sweep.last.begun) >= Date.parse(since) + SECOND;
}

/** Whether the chain of a copy alone keeps a collection current. */
export function isKeptCurrent(
  checkpoint: Pick<Checkpoint, 'get' | 'load' | 'sweep'>,
  collection: string,
): boolean {
  const chain = checkpoint.get('chain');
  const foundation = checkpoint.get('foundation');
  if (chain === undefined || foundation === undefined || chain.isBroken === true) return false;
  return (
    chain.resources.includes(collection) &&
    chain.untold?.includes(collection) !== true &&
    hasReadWindows(foundation, collection, checkpoint.load(collection)) &&
    hasSwept(foundation, collection, checkpoint.sweep(collection))
  );
}

/**
 * The time at which the next window of a collection may begin once the changes up to `at` are in the copy; undefined if the
 * beginning of the window does not change.
 */
export function nextWindowStart(
  checkpoint: Pick<Checkpoint, 'get' | 'load'>,
  collection: string,
  at: number,
): string | undefined {
  const load = checkpoint.load(collection);
  const foundation = checkpoint.get('foundation');
  if (load.kind !== 'current' || foundation === undefined) return undefined;
  if (!hasReadWindows(foundation, collection, load)) return undefined;
  const upTo = at - MARGIN;
  return upTo > Date.parse(load.cursor) ? timestampFrom(upTo) : undefined;
}

/** A copy that may follow changes. */
interface Followed {
  readonly checkpoint: Checkpoint;
  readonly feed: Pick<Source, 'serverTime'>;
}

/** Resets the foundation of the chain: from now on, it needs windows that end, and a sweep that begins, after this moment. */
export async function requireNewFoundation({ checkpoint, feed }: Followed): Promise<void> {
  if (checkpoint.get('chain') === undefined) return;
  const since = timestampFrom(await feed.serverTime());
  await checkpoint.commit({ state: { foundation: { since, fresh: [] } } });
}

/** Makes the next purge due if the copy follows reported changes. Otherwise, it would be due only after a week. */
export async function requestFollowedPurge(copy: Followed): Promise<void> {
  if (copy.checkpoint.get('chain') === undefined) return;
  await requireNewFoundation(copy);
  await copy.checkpoint.requestPurge();
}
