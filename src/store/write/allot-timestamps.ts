/**
 * Which moments the records of one commit get: rising, each in a millisecond of its own wherever there is room, since
 * clients cut finer digits off, and a client that pages by timestamp passes no block that is wider than its page. Where
 * there is none, up to ten share a millisecond, told apart by a fourth digit. None falls on a whole second, so that
 * windows that share a bound in whole seconds lose nothing. Pure: it knows no store and no clock.
 */

/** Records that share a millisecond at the most. */
export const PER_MILLISECOND = 10;
/** Microseconds between two of them. */
const SLOT = 1000 / PER_MILLISECOND;

/** Records of a resource in one commit from which on it is taken for one of many, as an import's are. */
const BULK = 100;
/** Commits like the first one that an import into an empty resource leaves room for. */
const COMMITS_INTO_EMPTY = 1000;
/** Milliseconds before the clock at which other bulk commits begin, for each of their records. */
const BULK_SPAN = 60;

/** What the timestamps of some records of one resource follow from. Milliseconds since 1970, but for `last`. */
export interface Room {
  /** The clock that stamps, or what it must be taken for: nothing that was promised or given lies after it. */
  readonly now: number;
  /** A reader was told that nothing falls before it any more. */
  readonly promised: number;
  /** The last timestamp of the resource in microseconds; undefined: it never held anything. */
  readonly last: number | undefined;
  /** Whether all of these are new, and an import goes on that began while the resource was empty. */
  readonly isFilling: boolean;
  /** Whether the same commit has got timestamps in bulk already: these go on behind them. */
  readonly isGoingOn: boolean;
  /** Evenly over a span of the past, as far as there is room. */
  readonly over?: Span | undefined;
}

/** A span of time. Milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Rising moments in microseconds since 1970, all of them after `last` and none before `promised`. They lie after `now`
 * only where there is no room before it; the commit then waits for the clock.
 */
export function allot(count: number, room: Room): number[] {
  const { now, promised, last, over } = room;
  const first = Math.max(
    promised,
    last === undefined ? Number.NEGATIVE_INFINITY : Math.floor(last / 1000) + 1,
  );
  const free = usable(first, now);
  if (free < count) return crowded(count, first, free, room);
  if (over !== undefined) {
    const from = Math.max(first, Math.ceil(over.from));
    const to = Math.min(now, Math.floor(over.to));
    if (to - from >= 2 * count) return spread(count, from, to);
    if (usable(from, now) >= count) return contiguous(count, from);
  }
  return contiguous(count, beginOf(count, first, room));
}

/** Whether so many records are taken for some of many. */
export const isBulk = (count: number): boolean => count >= BULK;

/** Where records begin for which there is room from `first` on. */
function beginOf(count: number, first: number, { now, last, isFilling, isGoingOn }: Room): number {
  const latest = lastRun(count, now);
  if (isGoingOn || (isFilling && last !== undefined)) return first;
  if (!isBulk(count)) return latest;
  const span = last === undefined ? COMMITS_INTO_EMPTY * count : BULK_SPAN * count;
  return Math.min(latest, Math.max(first, now - span));
}

/** Milliseconds of a span, its ends included, that are no whole second. */
function usable(from: number, to: number): number {
  if (from > to) return 0;
  if (from === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
  return to - from + 1 - (Math.floor(to / 1000) - Math.ceil(from / 1000) + 1);
}

/** The millisecond at which so many begin that end now. */
function lastRun(count: number, now: number): number {
  let from = now - count + 1;
  for (let missing = count - usable(from, now); missing > 0; missing = count - usable(from, now))
    from -= missing;
  return from;
}

const isWholeSecond = (millisecond: number): boolean => millisecond % 1000 === 0;

/** One in each millisecond. */
function contiguous(count: number, from: number): number[] {
  return dense(count, from, 1);
}

/** So many in each millisecond. */
function dense(count: number, from: number, each: number): number[] {
  const moments: number[] = [];
  for (let at = from; moments.length < count; at++) {
    if (isWholeSecond(at)) continue;
    for (let slot = 0; slot < each && moments.length < count; slot++) moments.push(at * 1000 + slot * SLOT);
  }
  return moments;
}

/** Evenly, in a span that has more than twice the milliseconds that it takes. */
function spread(count: number, from: number, to: number): number[] {
  const moments: number[] = [];
  let next = from;
  for (let index = 0; index < count; index++) {
    const wanted = from + Math.floor(((to - from) * index) / count);
    const at = Math.max(next, wanted);
    const taken = isWholeSecond(at) ? at + 1 : at;
    moments.push(taken * 1000);
    next = taken + 1;
  }
  return moments;
}

/** As few in each millisecond as it takes; where ten are not enough, the last ones lie ahead of the clock. */
function crowded(count: number, first: number, free: number, { promised, last }: Room): number[] {
  if (free > 0) return dense(count, first, Math.min(PER_MILLISECOND, Math.ceil(count / free)));
  const shared = last === undefined ? [] : restOf(last, promised);
  const taken = shared.slice(0, count);
  return [...taken, ...dense(count - taken.length, first, PER_MILLISECOND)];
}

/** The places that are left in the millisecond of the last timestamp. */
function restOf(last: number, promised: number): number[] {
  const millisecond = Math.floor(last / 1000);
  if (millisecond < promised || isWholeSecond(millisecond)) return [];
  const rest: number[] = [];
  const next = Math.floor((last - millisecond * 1000) / SLOT) + 1;
  for (let slot = next; slot < PER_MILLISECOND; slot++) rest.push(millisecond * 1000 + slot * SLOT);
  return rest;
}
