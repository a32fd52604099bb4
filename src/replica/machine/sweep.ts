import type { Position } from '../source/source.ts';
import { impossible } from './impossible.ts';

/** A sweep over all keys, both ways: what is gone at the source goes here, what is missing here is fetched. */
export interface SweepStates {
  readonly idle: { readonly kind: 'idle' };
  readonly walking: {
    readonly kind: 'walking';
    /** Names the generation of marks. */
    readonly sweep: number;
    readonly begun: string;
    readonly position?: Position;
    readonly keys: number;
    readonly total?: number;
    readonly round: number;
  };
  /** All keys were seen; what has no mark is deleted. */
  readonly deleting: {
    readonly kind: 'deleting';
    readonly sweep: number;
    readonly begun: string;
    readonly deleted: number;
  };
  /** Keys that the source has and the copy has not are fetched. */
  readonly fetching: { readonly kind: 'fetching'; readonly sweep: number; readonly begun: string };
  /** Too much would have been deleted; a person decides. */
  readonly guarded: {
    readonly kind: 'guarded';
    readonly sweep: number;
    readonly begun: string;
    readonly rows: number;
    readonly of: number;
  };
}

export type SweepState = SweepStates[keyof SweepStates];

export interface SweepEvents {
  readonly begin: { readonly kind: 'begin'; readonly sweep: number; readonly at: string };
  readonly page: {
    readonly kind: 'page';
    readonly next: Position;
    readonly keys: number;
    readonly total?: number;
  };
  readonly end: { readonly kind: 'end' };
  /** The walk has to begin again: a link died, or two sweeps by offset did not agree. */
  readonly again: { readonly kind: 'again'; readonly sweep: number };
  readonly guard: { readonly kind: 'guard'; readonly rows: number; readonly of: number };
  readonly deleted: { readonly kind: 'deleted'; readonly rows: number };
  readonly purged: { readonly kind: 'purged' };
  readonly done: { readonly kind: 'done' };
}

export type SweepEvent = SweepEvents[keyof SweepEvents];

type SweepCell<S extends keyof SweepStates, E extends keyof SweepEvents> = (
  state: SweepStates[S],
  event: SweepEvents[E],
) => SweepState;
type SweepRow<S extends keyof SweepStates> = { readonly [E in keyof SweepEvents]: SweepCell<S, E> };
type SweepTable = { readonly [S in keyof SweepStates]: SweepRow<S> };

const SWEEP: SweepTable = {
  idle: {
    begin: (_, { sweep, at }) => ({ kind: 'walking', sweep, begun: at, keys: 0, round: 1 }),
    page: impossible,
    end: impossible,
    again: impossible,
    guard: impossible,
    deleted: impossible,
    purged: impossible,
    done: impossible,
  },
  walking: {
    begin: impossible,
    page: (state, { next, keys, total }) => ({
      ...state,
      position: next,
      keys: state.keys + keys,
      ...(total === undefined ? {} : { total }),
    }),
    end: ({ sweep, begun }) => ({ kind: 'deleting', sweep, begun, deleted: 0 }),
    again: ({ begun, round }, { sweep }) => ({
      kind: 'walking',
      sweep,
      begun,
      keys: 0,
      round: round + 1,
    }),
    guard: impossible,
    deleted: impossible,
    purged: impossible,
    done: impossible,
  },
  deleting: {
    begin: impossible,
    page: impossible,
    end: impossible,
    again: impossible,
    guard: ({ sweep, begun }, { rows, of }) => ({ kind: 'guarded', sweep, begun, rows, of }),
    deleted: (state, { rows }) => ({ ...state, deleted: state.deleted + rows }),
    purged: ({ sweep, begun }) => ({ kind: 'fetching', sweep, begun }),
    done: impossible,
  },
  fetching: {
    begin: impossible,
    page: impossible,
    end: impossible,
    again: impossible,
    guard: impossible,
    deleted: impossible,
    purged: impossible,
    done: () => ({ kind: 'idle' }),
  },
  guarded: {
    // The next sweep looks again; `--force` lets it delete.
    begin: (_, { sweep, at }) => ({ kind: 'walking', sweep, begun: at, keys: 0, round: 1 }),
    page: impossible,
    end: impossible,
    again: impossible,
    guard: impossible,
    deleted: impossible,
    purged: impossible,
    done: impossible,
  },
};

/** @throws ImpossibleEvent for a fault of the consumer's own */
export function advanceSweep(state: SweepState, event: SweepEvent): SweepState {
  return advanceSweepFrom(state.kind, event.kind, state, event);
}

function advanceSweepFrom<S extends keyof SweepStates, E extends keyof SweepEvents>(
  from: S,
  what: E,
  state: SweepStates[S],
  event: SweepEvents[E],
): SweepState {
  const row: SweepRow<S> = SWEEP[from];
  const cell: SweepCell<S, E> = row[what];
  return cell(state, event);
}
