/**
 * The states of a resource's copy, and what may happen in each (docs/replication.md). The table is typed so that a
 * missing case does not compile. States are data: they are stored with every page, in its transaction.
 */
import type { WalkPosition } from '../source/source.ts';
import { impossible, nextState, type StateTable } from './table.ts';

/** How far the copy of a resource is. Timestamps are canonical, on the source's clock. */
interface LoadStates {
  /** Nothing was ever copied. */
  readonly new: { readonly kind: 'new' };
  /** The initial download. The first update, which begins at `since`, covers changes made meanwhile. */
  readonly initial: {
    readonly kind: 'initial';
    readonly since: string;
    readonly position?: WalkPosition;
    readonly rows: number;
    /** The lowest number of rows that the source announced during this walk: rows may be deleted or added behind its position. */
    readonly total?: number;
    /** How often the walk has begun: a link may die. */
    readonly round: number;
    /** Where the walk before this one ended, if that was too soon. */
    readonly previous?: WalkEnd;
  };
  /** The listings are there; their sub-resources follow in requests of its own. */
  readonly filling: { readonly kind: 'filling'; readonly since: string };
  /** Complete up to the cursor. */
  readonly current: { readonly kind: 'current'; readonly cursor: string; readonly lastUpper?: string };
  /** A window is being read. */
  readonly updating: {
    readonly kind: 'updating';
    readonly cursor: string;
    readonly upper: string;
    /** Windows may be on several fields, one after the other, all with the same bounds. */
    readonly pass: number;
    readonly position?: WalkPosition;
    readonly rows: number;
  };
}

/** How many rows a walk gave, and the key of the last. */
export interface WalkEnd {
  readonly rows: number;
  readonly end: string;
}

export type LoadState = LoadStates[keyof LoadStates];

interface LoadEvents {
  readonly begin: { readonly kind: 'begin'; readonly since: string };
  readonly page: {
    readonly kind: 'page';
    readonly next: WalkPosition;
    readonly rows: number;
    readonly total?: number;
  };
  /** The last page, and how many rows it has; `fills` when sub-resources have to follow. */
  readonly end: { readonly kind: 'end'; readonly fills: boolean; readonly rows?: number };
  /** The last page, and fewer rows than the source announced: the walk is repeated. */
  readonly short: { readonly kind: 'short' } & WalkEnd;
  /** The last page of a window, but not of the last field. */
  readonly nextPass: { readonly kind: 'nextPass'; readonly rows: number };
  readonly filled: { readonly kind: 'filled' };
  readonly window: { readonly kind: 'window'; readonly upper: string };
  /** The position is no longer valid. The walk begins again; a window with another upper bound. */
  readonly lost: { readonly kind: 'lost' };
  /** Changes up to a moment were applied by another method than windows. */
  readonly reported: { readonly kind: 'reported'; readonly upTo: string };
  /** What the key may see has changed: everything has to be read again. */
  readonly refresh: { readonly kind: 'refresh'; readonly since: string };
}

export type LoadEvent = LoadEvents[keyof LoadEvents];

const initialFrom = (since: string, round = 1): LoadStates['initial'] => ({
  kind: 'initial',
  since,
  rows: 0,
  round,
});

/** The lesser of the numbers of rows that were announced, if any was. */
export function least(before: number | undefined, announced: number | undefined): number | undefined {
  if (before === undefined || announced === undefined) return before ?? announced;
  return Math.min(before, announced);
}

const LOAD: StateTable<LoadStates, LoadEvents> = {
  new: {
    begin: (_, { since }) => initialFrom(since),
    page: impossible,
    end: impossible,
    short: impossible,
    nextPass: impossible,
    filled: impossible,
    window: impossible,
    lost: impossible,
    reported: impossible,
    refresh: (_, { since }) => initialFrom(since),
  },
  initial: {
    begin: impossible,
    page: (state, { next, rows: more, total }) => ({
      ...state,
      position: next,
      rows: state.rows + more,
      ...(total === undefined ? {} : { total: Math.min(state.total ?? total, total) }),
    }),
    end: ({ since }, { fills }) => (fills ? { kind: 'filling', since } : { kind: 'current', cursor: since }),
    short: ({ since, round }, { rows, end }) => ({
      ...initialFrom(since, round + 1),
      previous: { rows, end },
    }),
    nextPass: impossible,
    filled: impossible,
    window: impossible,
    lost: ({ since, round }) => initialFrom(since, round + 1),
    reported: impossible,
    refresh: (_, { since }) => initialFrom(since),
  },
  filling: {
    begin: impossible,
    page: impossible,
    end: impossible,
    short: impossible,
    nextPass: impossible,
    filled: ({ since }) => ({ kind: 'current', cursor: since }),
    window: impossible,
    lost: impossible,
    reported: impossible,
    refresh: (_, { since }) => initialFrom(since),
  },
  current: {
    begin: impossible,
    page: impossible,
    end: impossible,
    short: impossible,
    nextPass: impossible,
    filled: impossible,
    window: ({ cursor }, { upper }) => ({ kind: 'updating', cursor, upper, pass: 0, rows: 0 }),
    lost: impossible,
    // The next window begins there.
    reported: (state, { upTo }) => ({ ...state, cursor: upTo }),
    refresh: (_, { since }) => initialFrom(since),
  },
  updating: {
    begin: impossible,
    page: (state, { next, rows: more }) => ({ ...state, position: next, rows: state.rows + more }),
    end: ({ upper }) => ({ kind: 'current', cursor: upper, lastUpper: upper }),
    short: impossible,
    nextPass: ({ cursor, upper, pass, rows }, { rows: more }) => ({
      kind: 'updating',
      cursor,
      upper,
      pass: pass + 1,
      rows: rows + more,
    }),
    filled: impossible,
    window: impossible,
    // The cursor stays: nothing of the window counts before all of it is stored.
    lost: ({ cursor, upper }) => ({ kind: 'current', cursor, lastUpper: upper }),
    reported: impossible,
    refresh: (_, { since }) => initialFrom(since),
  },
};

/** The state of a copy after an event. @throws ImpossibleEvent */
export const advance = (state: LoadState, event: LoadEvent): LoadState =>
  nextState(LOAD, state.kind, event.kind, state, event);
