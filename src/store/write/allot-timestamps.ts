/**
 * Allots timestamps to the records of one commit. They ascend, and each has a millisecond of its own if there is room:
 * clients truncate finer digits, and a client that pages by timestamp cannot get past a block of equal timestamps that
 * is larger than its page. Without room, up to ten share a millisecond and differ in a fourth digit. No timestamp is a
 * whole second, so that windows that share a bound in whole seconds lose nothing. Pure: it knows no store and no clock.
 */

/** The maximum number of records that share a millisecond. */
export const PER_MILLISECOND = 10;
/** Microseconds between two timestamps in one millisecond. */
const SLOT = 1000 / PER_MILLISECOND;

/** A commit with at least this many records of a resource counts as part of an import. */
const BULK = 100;
/** The first commit of an import into an empty resource leaves room for this many commits of its size. */
const COMMITS_INTO_EMPTY = 1000;
/**
 * Other bulk commits begin this many milliseconds before the clock for each of their records. An import of media moves a thousand
 * listings in a tenth of a second, so six hundred such commits can follow before one has to wait for the clock.
 */
const BULK_SPAN = 600;

/** The bounds for the timestamps of some records of one resource. Milliseconds since 1970, except `last`. */
export interface TimestampRoom {
  /** The clock that sets timestamps, moved forward to the last promise and the last timestamp if it is behind them. */
  readonly now: number;
  /** A reader has been promised that no later timestamp is before this moment. */
  readonly promised: number;
  /** The last timestamp of the resource in microseconds; undefined for a resource that never contained a record. */
  readonly last: number | undefined;
  /** Whether the records continue an import that began while the resource was empty. */
  readonly isFilling: boolean;
  /** Whether the commit has already assigned timestamps in bulk; these timestamps then follow them. */
  readonly isGoingOn: boolean;
  /** Spreads the timestamps evenly over a span of the past, as far as there is room. */
  readonly over?: Span | undefined;
}

/** A span of time. Milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns ascending moments in microseconds since 1970, all after `last` and none before `promised`. They are after
 * `now` only if there is no room before it; the commit then waits for the clock.
 */
export function allotTimestamps(count: number, room: TimestampRoom): number[] {
  const { now, promised, last, over } = room;
  const first = Math.max(
    promised,
    last === undefined ? Number.NEGATIVE_INFINITY : Math.floor(last / 1000) + 1,
  );
  const free = countUsable(first, now);
  if (free < count) return shareMilliseconds(count, first, free, room);
  if (over !== undefined) {
    const from = Math.max(first, Math.ceil(over.from));
    const to = Math.min(now, Math.floor(over.to));
    if (to - from >= 2 * count) return spread(count, from, to);
    if (countUsable(from, now) >= count) return contiguous(count, from);
  }
  return contiguous(count, firstMillisecond(count, first, room));
}

/** Whether this many records count as part of an import. */
export const isBulk = (count: number): boolean => count >= BULK;

/** The first millisecond for this many records, if there is room for them from `first` on. */
function firstMillisecond(
  count: number,
  first: number,
  { now, last, isFilling, isGoingOn }: TimestampRoom,
): number {
  const latest = startOfLastRun(count, now);
  if (isGoingOn || (isFilling && last !== undefined)) return first;
  if (!isBulk(count)) return latest;
  const span = last === undefined ? COMMITS_INTO_EMPTY * count : BULK_SPAN * count;
  return Math.min(latest, Math.max(first, now - span));
}

/** The number of milliseconds in a span, including its ends, that are not whole seconds. */
function countUsable(from: number, to: number): number {
  if (from > to) return 0;
  if (from === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
  return to - from + 1 - (Math.floor(to / 1000) - Math.ceil(from / 1000) + 1);
}

/** The first millisecond of a run of this many records that ends now. */
function startOfLastRun(count: number, now: number): number {
  let from = now - count + 1;
  for (let missing = count - countUsable(from, now); missing > 0; missing = count - countUsable(from, now))
    from -= missing;
  return from;
}

const isWholeSecond = (millisecond: number): boolean => millisecond % 1000 === 0;

/** One timestamp in each millisecond. */
function contiguous(count: number, from: number): number[] {
  return dense(count, from, 1);
}

/** `each` timestamps in every millisecond. */
function dense(count: number, from: number, each: number): number[] {
  const moments: number[] = [];
  for (let at = from; moments.length < count; at++) {
    if (isWholeSecond(at)) continue;
    for (let slot = 0; slot < each && moments.length < count; slot++) moments.push(at * 1000 + slot * SLOT);
  }
  return moments;
}

/** Distributes timestamps evenly over a span of more than twice as many milliseconds. */
function spread(count: number, from: number, to: number): number[] {
  const moments: number[] = [];
  let next = from;
  for (let index = 0; index < count; index++) {
    const even = from + Math.floor(((to - from) * index) / count);
    const at = Math.max(next, even);
    const taken = isWholeSecond(at) ? at + 1 : at;
    moments.push(taken * 1000);
    next = taken + 1;
  }
  return moments;
}

/** Assigns as few timestamps per millisecond as fit; if even ten do not fit, the last timestamps are ahead of the clock. */
function shareMilliseconds(
  count: number,
  first: number,
  free: number,
  { promised, last }: TimestampRoom,
): number[] {
  if (free > 0) return dense(count, first, Math.min(PER_MILLISECOND, Math.ceil(count / free)));
  const shared = last === undefined ? [] : unusedSlots(last, promised);
  const taken = shared.slice(0, count);
  return [...taken, ...dense(count - taken.length, first, PER_MILLISECOND)];
}

/** The unused places in the millisecond of the last timestamp. */
function unusedSlots(last: number, promised: number): number[] {
  const millisecond = Math.floor(last / 1000);
  if (millisecond < promised || isWholeSecond(millisecond)) return [];
  const rest: number[] = [];
  const next = Math.floor((last - millisecond * 1000) / SLOT) + 1;
  for (let slot = next; slot < PER_MILLISECOND; slot++) rest.push(millisecond * 1000 + slot * SLOT);
  return rest;
}
