/**
 * Which collections a chain of changes keeps current by itself, without windows and sweeps: those that were whole at a moment
 * after which the source has told of every change. It asks no source.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Foundation } from '../checkpoint/notes.ts';
import type { LoadState } from '../machine/load.ts';
import type { SweepState } from '../machine/sweep.ts';

/**
 * Milliseconds by which windows and changes that are told of overlap. Timestamps of one commit are spread, and commits that
 * are under way at one time end in another order: a moment that is so long ago is settled.
 */
const MARGIN = 60_000;
/** A source shows the moment at which a sweep began in whole seconds. */
const SECOND = 1000;

/** Whether everything that was changed before a chain began has been brought by a download or by windows. */
function hasWindowed({ since, fresh }: Foundation, collection: string, load: LoadState): boolean {
  if (load.kind !== 'current') return false;
  return fresh.includes(collection) || Date.parse(load.cursor) >= Date.parse(since) + MARGIN;
}

/** Whether everything that was deleted before a chain began has been found by a sweep. */
export function hasSwept({ since, fresh }: Foundation, collection: string, sweep: SweepState): boolean {
  // A download into an empty copy leaves nothing to be found.
  if (fresh.includes(collection)) return true;
  if (sweep.kind !== 'idle' || sweep.last === undefined || sweep.last.unsure) return false;
  return Date.parse(sweep.last.begun) >= Date.parse(since) + SECOND;
}

/** Whether the chain of a copy alone keeps a collection current. */
export function isKept(checkpoint: Pick<Checkpoint, 'get' | 'load' | 'sweep'>, collection: string): boolean {
  const chain = checkpoint.get('chain');
  const foundation = checkpoint.get('foundation');
  if (chain === undefined || foundation === undefined || chain.isBroken === true) return false;
  return (
    chain.resources.includes(collection) &&
    chain.untold?.includes(collection) !== true &&
    hasWindowed(foundation, collection, checkpoint.load(collection)) &&
    hasSwept(foundation, collection, checkpoint.sweep(collection))
  );
}

/**
 * Where the next window of a collection may begin after changes up to a moment are in the copy; undefined: where it would
 * have begun anyway.
 */
export function windowFrom(
  checkpoint: Pick<Checkpoint, 'get' | 'load'>,
  collection: string,
  at: number,
): string | undefined {
  const load = checkpoint.load(collection);
  const foundation = checkpoint.get('foundation');
  if (load.kind !== 'current' || foundation === undefined) return undefined;
  if (!hasWindowed(foundation, collection, load)) return undefined;
  const upTo = at - MARGIN;
  return upTo > Date.parse(load.cursor) ? timestampFrom(upTo) : undefined;
}
