/**
 * The states of a copy and of its sweeps, and what may happen in each (docs/replication.md). An event without a cell in the row of a
 * state is impossible there. States are data: they are stored with every page, in its transaction.
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

/** A cell for each event that a state allows makes the next state. */
type Table<States, Events> = {
  readonly [S in keyof States]: {
    readonly [E in keyof Events]?: (state: States[S], event: Events[E]) => States[keyof States];
  };
};

/** An event that a state does not allow: a fault of the consumer's own. */
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

/** How far the copy of a resource is. Timestamps are canonical, on the source's clock. */
const LOADS = {
  /** Nothing was ever copied. */
  new: object({}),
  /** The initial download. The first update, which begins at `since`, covers changes made meanwhile. */
  initial: object({
    since: text,
    position: optional(POSITION),
    rows: number,
    /** The lowest number of rows that the source announced during this walk: rows may be deleted or added behind its position. */
    total: optional(number),
    /** How often the walk has started: a link may expire. */
    round: number,
    /** Where the walk before this one ended, if that was too soon: how many rows it gave, and the key of the last. */
    previous: optional(object({ rows: number, end: text })),
  }),
  /** The listings are there; their sub-resources follow in requests of its own. */
  filling: object({ since: text }),
  /** Complete up to the cursor. */
  current: object({ cursor: text, lastUpper: optional(text) }),
  /** A window is being read. Windows may be on several fields, one after the other (`pass`), all with the same bounds. */
  updating: object({ cursor: text, upper: text, pass: number, position: optional(POSITION), rows: number }),
};
export const LOAD_STATE = kinds(LOADS);
export type LoadState = Shaped<typeof LOAD_STATE>;
type LoadStates = KindsOf<typeof LOADS>;

export type WalkEnd = NonNullable<LoadStates['initial']['previous']>;

type LoadEvents = Kinds<{
  readonly begin: { readonly since: string };
  readonly page: { readonly next: WalkPosition; readonly rows: number; readonly total?: number };
  /** The last page, and how many rows it has; `fills` when sub-resources have to follow. */
  readonly end: { readonly fills: boolean; readonly rows?: number };
  /** The last page, and fewer rows than the source announced: the walk is repeated. */
  readonly short: WalkEnd;
  /** The last page of a window, but not of the last field. */
  readonly nextPass: { readonly rows: number };
  readonly filled: unknown;
  readonly window: { readonly upper: string };
  /** The position is no longer valid. The walk begins again; a window with another upper bound. */
  readonly lost: unknown;
  /** Changes up to a moment were applied by another method than windows. */
  readonly reported: { readonly upTo: string };
  /** What the key may see has changed: everything has to be read again. */
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

/** The lesser of the numbers of rows that were announced, if any was. */
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
    // The cursor stays: nothing of the window counts before all of it is stored.
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

/** A sweep over all keys, in both directions: records that the source no longer has are deleted, missing ones are fetched. */
const SWEEPS = {
  /** `sweep`: number of the last one. */
  idle: object({ sweep: number, last: optional(OUTCOME) }),
  walking: object({
    /** Marks of this number are being set. */
    sweep: number,
    /** Records with a mark of this number or a later one are not deleted. */
    base: number,
    begun: text,
    position: optional(POSITION),
    keys: number,
    /** The least number of keys that the source announced during this walk. */
    total: optional(number),
    /** A row came without its key, so that this walk does not show which records the source no longer has. */
    keyless: optional(flag),
    /** Of all keys so far, in their order. */
    digest: text,
    /** Digest of the walk before this one, where two have to agree. */
    previous: optional(text),
    round: number,
  }),
  /** All keys were seen; stored records without a mark are deleted. */
  deleting: object({ sweep: number, base: number, begun: text, keys: number, deleted: number }),
  /** Keys that the source has and the copy has not are fetched. */
  fetching: object({ sweep: number, begun: text, keys: number, deleted: number, unsure: flag }),
  /** Too much would have been deleted; a person decides. */
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
  };
  /** The last page. */
  readonly end: { readonly keys: number };
  /** The last page of a walk that another one has to agree with. */
  readonly agree: { readonly digest: string };
  /** The last page; no two walks agreed, or a row came without its key. */
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
    page: (state, { next, keys, digest, total, keyless }) => ({
      ...state,
      position: next,
      keys: state.keys + keys,
      digest,
      ...(total === undefined ? {} : { total: lowerTotal(state.total, total) }),
      ...(keyless ? { keyless } : {}),
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
  // The next sweep looks again; `--force` lets it delete.
  guarded: { begin },
};

/** The state of a sweep after an event. @throws ImpossibleEvent */
export const advanceSweep = (state: SweepState, event: SweepEvent): SweepState =>
  nextState(SWEEP, state.kind, event.kind, state, event);
