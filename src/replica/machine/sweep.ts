import type { WalkPosition } from '../source/source.ts';
import { impossible, nextState, type StateRow, type StateTable } from './table.ts';

/** A sweep over all keys, in both directions: records that the source no longer has are deleted, missing ones are fetched. */
interface SweepStates {
  readonly idle: {
    readonly kind: 'idle';
    /** Number of the last sweep. */
    readonly sweep: number;
    readonly last?: SweepOutcome;
  };
  readonly walking: {
    readonly kind: 'walking';
    /** Marks of this number are being set. */
    readonly sweep: number;
    /** Records with a mark of this number or a later one are not deleted. */
    readonly base: number;
    readonly begun: string;
    readonly position?: WalkPosition;
    readonly keys: number;
    /** The least number of keys that the source announced during this walk. */
    readonly total?: number;
    /** A row came without its key, so that this walk does not show which records the source no longer has. */
    readonly keyless?: boolean;
    /** Of all keys so far, in their order. */
    readonly digest: string;
    /** Digest of the walk before this one, where two have to agree. */
    readonly previous?: string;
    readonly round: number;
  };
  /** All keys were seen; stored records without a mark are deleted. */
  readonly deleting: {
    readonly kind: 'deleting';
    readonly sweep: number;
    readonly base: number;
    readonly begun: string;
    readonly keys: number;
    readonly deleted: number;
  };
  /** Keys that the source has and the copy has not are fetched. */
  readonly fetching: {
    readonly kind: 'fetching';
    readonly sweep: number;
    readonly begun: string;
    readonly keys: number;
    readonly deleted: number;
    readonly unsure: boolean;
  };
  /** Too much would have been deleted; a person decides. */
  readonly guarded: {
    readonly kind: 'guarded';
    readonly sweep: number;
    readonly begun: string;
    readonly rows: number;
    readonly of: number;
  };
}

/** The outcome of a finished sweep. Timestamps are canonical, on the source's clock. */
interface SweepOutcome {
  readonly begun: string;
  readonly keys: number;
  readonly deleted: number;
  /** Whether nothing was deleted because the walks did not show which records the source no longer has. */
  readonly unsure: boolean;
}

export type SweepState = SweepStates[keyof SweepStates];

interface SweepEvents {
  readonly begin: { readonly kind: 'begin'; readonly at: string };
  readonly page: {
    readonly kind: 'page';
    readonly next: WalkPosition;
    readonly keys: number;
    readonly digest: string;
    readonly total?: number;
    readonly keyless: boolean;
  };
  /** The last page. */
  readonly end: { readonly kind: 'end'; readonly keys: number };
  /** The last page of a walk that another one has to agree with. */
  readonly agree: { readonly kind: 'agree'; readonly digest: string };
  /** The last page; no two walks agreed, or a row came without its key. */
  readonly unsure: { readonly kind: 'unsure'; readonly keys: number };
  /** A link died; the walk begins again. */
  readonly lost: { readonly kind: 'lost' };
  readonly guard: { readonly kind: 'guard'; readonly rows: number; readonly of: number };
  readonly deleted: { readonly kind: 'deleted'; readonly rows: number };
  readonly purged: { readonly kind: 'purged' };
  readonly done: { readonly kind: 'done' };
}

export type SweepEvent = SweepEvents[keyof SweepEvents];

const never = {
  begin: impossible,
  page: impossible,
  end: impossible,
  agree: impossible,
  unsure: impossible,
  lost: impossible,
  guard: impossible,
  deleted: impossible,
  purged: impossible,
  done: impossible,
} as const satisfies StateRow<SweepStates, SweepEvents>;

const begun = (sweep: number, at: string): SweepState => ({
  kind: 'walking',
  sweep,
  base: sweep,
  begun: at,
  keys: 0,
  digest: '',
  round: 1,
});

const SWEEP: StateTable<SweepStates, SweepEvents> = {
  idle: { ...never, begin: ({ sweep }, { at }) => begun(sweep + 1, at) },
  walking: {
    ...never,
    page: (state, { next, keys, digest, total, keyless }) => ({
      ...state,
      position: next,
      keys: state.keys + keys,
      digest,
      ...(total === undefined ? {} : { total: Math.min(state.total ?? total, total) }),
      ...(keyless ? { keyless } : {}),
    }),
    end: (state, { keys }) => ({
      kind: 'deleting',
      sweep: state.sweep,
      base: state.base,
      begun: state.begun,
      keys: state.keys + keys,
      deleted: 0,
    }),
    // Marks of both walks that agree count.
    agree: ({ sweep, begun: at, round }, { digest }) => ({
      kind: 'walking',
      sweep: sweep + 1,
      base: sweep,
      begun: at,
      keys: 0,
      digest: '',
      previous: digest,
      round: round + 1,
    }),
    unsure: (state, { keys }) => ({
      kind: 'fetching',
      sweep: state.sweep,
      begun: state.begun,
      keys: state.keys + keys,
      deleted: 0,
      unsure: true,
    }),
    lost: ({ sweep, begun: at, round }) => ({
      kind: 'walking',
      sweep: sweep + 1,
      base: sweep + 1,
      begun: at,
      keys: 0,
      digest: '',
      round: round + 1,
    }),
  },
  deleting: {
    ...never,
    guard: ({ sweep, begun: at }, { rows, of }) => ({ kind: 'guarded', sweep, begun: at, rows, of }),
    deleted: (state, { rows }) => ({ ...state, deleted: state.deleted + rows }),
    purged: ({ sweep, begun: at, keys, deleted }) => ({
      kind: 'fetching',
      sweep,
      begun: at,
      keys,
      deleted,
      unsure: false,
    }),
  },
  fetching: {
    ...never,
    done: ({ sweep, begun: at, keys, deleted, unsure }) => ({
      kind: 'idle',
      sweep,
      last: { begun: at, keys, deleted, unsure },
    }),
  },
  // The next sweep looks again; `--force` lets it delete.
  guarded: { ...never, begin: ({ sweep }, { at }) => begun(sweep + 1, at) },
};

/** The state of a sweep after an event. @throws ImpossibleEvent */
export const advanceSweep = (state: SweepState, event: SweepEvent): SweepState =>
  nextState(SWEEP, state.kind, event.kind, state, event);
