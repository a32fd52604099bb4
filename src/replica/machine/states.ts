/**
 * The states of a copy and of its sweeps, and the events that are possible in each (docs/replication.md). An event without a cell
 * in the row of a state is impossible in that state. States are data: they are stored with every page, in the same transaction.
 */
import {
  flag,
  type Kinds,
  type KindsOf,
  kinds,
  number,
  object,
  optional,
  type Shaped,
  text,
} from '../shape.ts';
import { POSITION, type WalkPosition } from '../source/source.ts';

/** For each state, a function for each possible event, which returns the next state. */
type Table<States, Events> = {
  readonly [S in keyof States]: {
    readonly [E in keyof Events]?: (state: States[S], event: Events[E]) => States[keyof States];
  };
};

/** An event that is impossible in a state: a defect of the consumer. */
export class ImpossibleEvent extends Error {
  override readonly name = 'ImpossibleEvent';
}

/** The next state. @param from,what the kinds of the state and the event @throws ImpossibleEvent */
function nextState<States, Events, S extends keyof States & string, E extends keyof Events & string>(
  table: Table<States, Events>,
  from: S,
  what: E,
  state: States[S],
  event: Events[E],
): States[keyof States] {
  const row: Table<States, Events>[S] = table[from];
  const cell = row[what];
  if (cell === undefined) throw new ImpossibleEvent(`${what} cannot happen in the state ${from}`);
  return cell(state, event);
}

/** The progress of the copy of a resource. Timestamps are canonical, on the source's clock. */
const LOADS = {
  /** Nothing has been copied yet. */
  new: object({}),
  /** The initial download. The first update begins at `since`, and so covers the changes that are made during the download. */
  initial: object({
    since: text,
    position: optional(POSITION),
    rows: number,
    /** The lowest number of rows that the source announced during this walk: rows may be deleted or added behind its position. */
    total: optional(number),
    /** The number of the current walk: a walk starts over if a link expires. */
    round: number,
    /** Where the previous walk ended, if it ended too early: its number of rows, and the key of the last one. */
    previous: optional(object({ rows: number, end: text })),
  }),
  /** All listings are stored; their sub-resources are being requested separately. */
  filling: object({ since: text }),
  /** The copy is complete up to the cursor. */
  current: object({ cursor: text, lastUpper: optional(text) }),
  /** A window is being read, once for each window field (`pass`), always with the same bounds. */
  updating: object({ cursor: text, upper: text, pass: number, position: optional(POSITION), rows: number }),
};
export const LOAD_STATE = kinds(LOADS);
export type LoadState = Shaped<typeof LOAD_STATE>;

/** Whether a copy is complete up to a cursor. */
export const isDownloaded = (load: LoadState): load is Extract<LoadState, { readonly cursor: string }> =>
  load.kind === 'current' || load.kind === 'updating';

type LoadStates = KindsOf<typeof LOADS>;

export type WalkEnd = NonNullable<LoadStates['initial']['previous']>;

type LoadEvents = Kinds<{
  readonly begin: { readonly since: string };
  readonly page: { readonly next: WalkPosition; readonly rows: number; readonly total?: number };
  /** The last page, and its number of rows. `fills`: sub-resources have to be requested separately. */
  readonly end: { readonly fills: boolean; readonly rows?: number };
  /** The last page, after fewer rows than the source announced: the walk is repeated. */
  readonly short: WalkEnd;
  /** The last page of a window on a field that is not the last window field. */
  readonly nextPass: { readonly rows: number };
  readonly filled: unknown;
  readonly window: { readonly upper: string };
  /** The position is no longer valid. A download starts over; an update begins a window with another upper bound. */
  readonly lost: unknown;
  /** Changes up to a moment were applied by another method than windows. */
  readonly reported: { readonly upTo: string };
  /** Everything has to be read again, for instance because the rights of the key have changed. */
  readonly refresh: { readonly since: string };
}>;
export type LoadEvent = LoadEvents[keyof LoadEvents];

const initialFrom = (since: string, round = 1): LoadStates['initial'] => ({
  kind: 'initial',
  since,
  rows: 0,
  round,
});
const refresh = (_: LoadState, { since }: LoadEvents['refresh']): LoadState => initialFrom(since);

/** The lower of two announced numbers of rows, as far as there are any. */
export function lowerTotal(before: number | undefined, announced: number | undefined): number | undefined {
  if (before === undefined || announced === undefined) return before ?? announced;
  return Math.min(before, announced);
}

const LOAD: Table<LoadStates, LoadEvents> = {
  new: { begin: (_, { since }) => initialFrom(since), refresh },
  initial: {
    page: (state, { next, rows: more, total }) => ({
      ...state,
      position: next,
      rows: state.rows + more,
      ...(total === undefined ? {} : { total: lowerTotal(state.total, total) }),
    }),
    end: ({ since }, { fills }) => (fills ? { kind: 'filling', since } : { kind: 'current', cursor: since }),
    short: ({ since, round }, { rows, end }) => ({
      ...initialFrom(since, round + 1),
      previous: { rows, end },
    }),
    lost: ({ since, round }) => initialFrom(since, round + 1),
    refresh,
  },
  filling: { filled: ({ since }) => ({ kind: 'current', cursor: since }), refresh },
  current: {
    window: ({ cursor }, { upper }) => ({ kind: 'updating', cursor, upper, pass: 0, rows: 0 }),
    // The next window begins there.
    reported: (state, { upTo }) => ({ ...state, cursor: upTo }),
    refresh,
  },
  updating: {
    page: (state, { next, rows: more }) => ({ ...state, position: next, rows: state.rows + more }),
    end: ({ upper }) => ({ kind: 'current', cursor: upper, lastUpper: upper }),
    nextPass: ({ kind, cursor, upper, pass, rows }, { rows: more }) => {
      return { kind, cursor, upper, pass: pass + 1, rows: rows + more };
    },
    // The cursor stays, because it moves only after the complete window has been stored.
    lost: ({ cursor, upper }) => ({ kind: 'current', cursor, lastUpper: upper }),
    refresh,
  },
};

/** The state of a copy after an event. @throws ImpossibleEvent */
export const advance = (state: LoadState, event: LoadEvent): LoadState =>
  nextState(LOAD, state.kind, event.kind, state, event);

/** Timestamps are canonical, on the source's clock. */
const OUTCOME = object({
  begun: text,
  keys: number,
  deleted: number,
  /** Whether nothing was deleted because the walks did not show which records the source no longer has. */
  unsure: flag,
});

/**
 * A sweep compares all keys of the source with those of the copy: it deletes records that the source no longer has, and fetches
 * records that the copy lacks.
 */
const SWEEPS = {
  /** `sweep`: the number of the last sweep. */
  idle: object({ sweep: number, last: optional(OUTCOME) }),
  walking: object({
    /** The number of this walk, with which it marks the keys that it sees. */
    sweep: number,
    /** The number of the first walk whose marks count: records with a mark of this number or a higher one are not deleted. */
    base: number,
    begun: text,
    position: optional(POSITION),
    keys: number,
    /** The lowest number of keys that the source announced during this walk. */
    total: optional(number),
    /** A row arrived without its key, so this walk does not show which records the source no longer has. */
    keyless: optional(flag),
    /** A row arrived whose key is null, as that of a quarantined record, so another walk has to agree. */
    nameless: optional(flag),
    /** The digest of all keys of this walk so far, in order. */
    digest: text,
    /** The digest of the previous walk, if two walks have to agree. */
    previous: optional(text),
    round: number,
  }),
  /** The walk has seen all keys; stored records without a mark are being deleted. */
  deleting: object({ sweep: number, base: number, begun: text, keys: number, deleted: number }),
  /** The records that the source has and the copy lacks are being fetched. */
  fetching: object({ sweep: number, begun: text, keys: number, deleted: number, unsure: flag }),
  /** Too many records would have been deleted; the operator has to decide. */
  guarded: object({ sweep: number, begun: text, rows: number, of: number }),
};
export const SWEEP_STATE = kinds(SWEEPS);
export type SweepState = Shaped<typeof SWEEP_STATE>;
type SweepStates = KindsOf<typeof SWEEPS>;

type SweepEvents = Kinds<{
  readonly begin: { readonly at: string };
  readonly page: {
    readonly next: WalkPosition;
    readonly keys: number;
    readonly digest: string;
    readonly total?: number;
    readonly keyless: boolean;
    readonly nameless: boolean;
  };
  /** The last page. */
  readonly end: { readonly keys: number };
  /** The last page of a walk that the next walk has to agree with. */
  readonly agree: { readonly digest: string };
  /** The last page, when no two walks agreed or a row arrived without its key. */
  readonly unsure: { readonly keys: number };
  /** A link expired; the walk starts over. */
  readonly lost: unknown;
  readonly guard: { readonly rows: number; readonly of: number };
  readonly deleted: { readonly rows: number };
  readonly purged: unknown;
  readonly done: unknown;
}>;
export type SweepEvent = SweepEvents[keyof SweepEvents];

const walkingFrom = (sweep: number, begun: string, round = 1): SweepStates['walking'] => ({
  ...{ kind: 'walking', sweep, base: sweep, begun },
  ...{ keys: 0, digest: '', round },
});
const begin = ({ sweep }: SweepState, { at }: SweepEvents['begin']): SweepState => walkingFrom(sweep + 1, at);

const SWEEP: Table<SweepStates, SweepEvents> = {
  idle: { begin },
  walking: {
    page: (state, { next, keys, digest, total, keyless, nameless }) => ({
      ...state,
      position: next,
      keys: state.keys + keys,
      digest,
      ...(total === undefined ? {} : { total: lowerTotal(state.total, total) }),
      ...(keyless ? { keyless } : {}),
      ...(nameless ? { nameless } : {}),
    }),
    end: ({ sweep, base, begun, keys: before }, { keys }) => {
      return { kind: 'deleting', sweep, base, begun, keys: before + keys, deleted: 0 };
    },
    // Marks of both walks that agree count.
    agree: ({ sweep, begun, round }, { digest }) => {
      return { ...walkingFrom(sweep + 1, begun, round + 1), base: sweep, previous: digest };
    },
    unsure: ({ sweep, begun, keys: before }, { keys }) => {
      return { kind: 'fetching', sweep, begun, keys: before + keys, deleted: 0, unsure: true };
    },
    lost: ({ sweep, begun, round }) => walkingFrom(sweep + 1, begun, round + 1),
  },
  deleting: {
    guard: ({ sweep, begun }, { rows, of }) => ({ kind: 'guarded', sweep, begun, rows, of }),
    deleted: (state, { rows }) => ({ ...state, deleted: state.deleted + rows }),
    purged: ({ sweep, begun, keys, deleted }) => {
      return { kind: 'fetching', sweep, begun, keys, deleted, unsure: false };
    },
  },
  fetching: {
    done: ({ sweep, begun, keys, deleted, unsure }) => {
      return { kind: 'idle', sweep, last: { begun, keys, deleted, unsure } };
    },
  },
  // The next sweep decides again; with `--force`, it deletes.
  guarded: { begin },
};

/** The state of a sweep after an event. @throws ImpossibleEvent */
export const advanceSweep = (state: SweepState, event: SweepEvent): SweepState =>
  nextState(SWEEP, state.kind, event.kind, state, event);
