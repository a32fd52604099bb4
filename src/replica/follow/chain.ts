/**
 * Which collections a chain of changes keeps current by itself, without windows and sweeps: those that were complete at
 * a moment after which the source has reported every change; and what renews that foundation of a chain.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Foundation } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import type { LoadState, SweepState } from '../machine/states.ts';

/**
 * Milliseconds by which windows and reported changes overlap. Timestamps of one commit are spread, and concurrent
 * commits may end in another order: a moment that long ago is settled.
 */
const MARGIN = 60_000;
/** A source shows the start of a sweep in whole seconds. */
const SECOND = 1000;

/** Whether a download or windows have brought everything that was changed before a chain began. */
function hasReadWindows({ since, fresh }: Foundation, collection: string, load: LoadState): boolean {
  if (load.kind !== 'current') return false;
  return fresh.includes(collection) || Date.parse(load.cursor) >= Date.parse(since) + MARGIN;
}

/** Whether a sweep has found everything that was deleted before a chain began. */
export function hasSwept({ since, fresh }: Foundation, collection: string, sweep: SweepState): boolean {
  // A download into an empty copy leaves no deletions to be found.
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
 * Where the next window of a collection may begin after changes up to a moment are in the copy; undefined: where it
 * would have begun anyway.
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

/** Requires that the basis be renewed: by windows that end, and a sweep that begins, after this moment. */
export async function requireNewFoundation({ checkpoint, feed }: Copy): Promise<void> {
  if (checkpoint.get('chain') === undefined) return;
  const since = timestampFrom(await feed.serverTime());
  await checkpoint.commit({ state: { foundation: { since, fresh: [] } } });
}

/**
 * Makes the next purge due soon for a copy that follows reported changes; otherwise, it would be compared with its source only
 * after a week.
 */
export async function requestFollowedPurge(copy: Copy): Promise<void> {
  if (copy.checkpoint.get('chain') === undefined) return;
  await requireNewFoundation(copy);
  await copy.checkpoint.requestPurge();
}
