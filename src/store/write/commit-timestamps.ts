/**
 * The timestamps of one commit. Each record gets one timestamp of its own (`allotTimestamps`), and only one, whatever changes
 * in it; so does the deletion of a record. The store keeps the last timestamp of each resource in a row of its own. It
 * knows no engine.
 */
import {
  fractionText,
  microsecondsOf,
  timestampFrom,
  timestampFromMicroseconds,
} from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { durationText } from '../../shared/clock.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';

/**
 * Milliseconds for which a saved promise is valid. Until this long after it, readers may be promised moments without the store
 * saving another promise (I2). No timestamp is assigned before that time has passed, unless the clock itself has not reached its
 * end.
 */
export const PROMISE_VALIDITY = 1000;
/** Milliseconds after which a store saves another promise, while the previous one is still valid. */
export const PROMISE_INTERVAL = PROMISE_VALIDITY / 2;

/** Milliseconds without a write after which an import into an empty resource counts as finished. */
const FILLING_ENDS = 60_000;

/**
 * Milliseconds by which the first timestamps of a store are before its creation: the values that an import brings into use follow
 * them, and may be more than ten for each millisecond that it takes.
 */
const CREATED_AFTER = 3_600_000;

/** The state that determines the next timestamp of a store. Moments are milliseconds since 1970. */
interface TimestampSource {
  /** The time of the clock that sets timestamps. */
  readonly moment: number;
  /** A reader has been promised that no timestamp before this moment will be assigned. */
  readonly settled: number;
  /** A canonical timestamp. */
  readonly lastStamp: string;
  /** Milliseconds by which the clock was set ahead, as far as that can be detected. */
  readonly jump: number;
}

/**
 * @param moment the time of the clock without the jump
 * @throws PlatError `clockJumped`
 */
export function mustNotHaveJumped(moment: number, jump: number): void {
  if (jump > 0) {
    throw platError('clockJumped', { clock: timestampFrom(moment + jump), ahead: durationText(jump) });
  }
}

/**
 * The timestamp of the next transaction, never before the last one (I2). Timestamps have a fraction only if it is not
 * zero, so they are compared as times.
 * @param ahead milliseconds by which it is ahead of the clock
 * @throws PlatError `clockJumped`: a timestamp in the future would keep every window empty until then
 */
function nextTimestamp({ moment, settled, lastStamp, jump }: TimestampSource, ahead = 0): string {
  mustNotHaveJumped(moment, jump);
  const now = timestampFrom(Math.max(moment + ahead, settled));
  return Date.parse(now) > Date.parse(lastStamp) ? now : lastStamp;
}

/** The time state of a store when a commit begins. */
export interface TimeSource extends TimestampSource {
  /** What the store has recorded of the last timestamps, as returned by `kept`. */
  readonly given: string | undefined;
}

/** Options for the timestamps of a commit. */
interface TimestampOptions {
  /** Milliseconds by which the timestamps may be ahead of the clock, since the work takes that long. */
  readonly ahead?: number;
  /** As in `TimestampRoom`. */
  readonly over?: Span | undefined;
  /** Whether the commit creates the store, which begins the filling of each resource that it writes. */
  readonly creates?: boolean;
}

interface LastTimestamp {
  /** Microseconds since 1970. */
  readonly last: number;
  /** The last write while the resource is being filled for the first time; milliseconds since 1970. */
  readonly filledAt?: number;
}

export class CommitTimestamps {
  /** The moment of the commit itself, never before that of the previous commit, as a canonical timestamp. */
  readonly moment: string;
  readonly #now: number;
  /** The clock, moved forward to the last promise and the last timestamp if it is behind them. */
  readonly #base: number;
  readonly #promised: number;
  readonly #over: Span | undefined;
  readonly #creates: boolean;
  readonly #last: Map<string, LastTimestamp>;
  /** The last timestamp of resources without an entry of their own. */
  readonly #lastOfOthers: number | undefined;
  readonly #given = new Map<string, Map<string, string>>();
  readonly #inBulk = new Set<string>();
  /** The newest of all assigned timestamps and the moment of the commit; microseconds since 1970. */
  #newest: number;
  #newestGiven: number | undefined;

  /** @throws PlatError `clockJumped` */
  constructor(source: TimeSource, { ahead = 0, over, creates = false }: TimestampOptions = {}) {
    const { moment, settled, lastStamp, given } = source;
    this.moment = nextTimestamp(source, ahead);
    this.#newest = microsecondsOf(this.moment);
    this.#now = Date.parse(this.moment);
    this.#base = Math.max(moment, settled, Date.parse(lastStamp));
    this.#promised = Math.max(settled, Math.min(this.#base, settled + PROMISE_VALIDITY));
    const created = this.#now - CREATED_AFTER;
    this.#over = creates ? { from: created, to: created } : over;
    this.#creates = creates;
    const known = parseLastTimestamps(given, lastStamp);
    this.#last = known.last;
    this.#lastOfOthers = known.others;
  }

  /** The last timestamp of the store after the commit, in canonical form. */
  get lastStamp(): string {
    return timestampFromMicroseconds(this.#newest);
  }

  /** The newest timestamp that was assigned to a record, in canonical form; the moment of the commit if none was assigned. */
  get newest(): string {
    return this.#newestGiven === undefined ? this.moment : timestampFromMicroseconds(this.#newestGiven);
  }

  /** Milliseconds until the clock reaches the last timestamp of the commit. */
  get ahead(): number {
    return Math.floor(this.#newest / 1000) - this.#base;
  }

  /**
   * Returns ascending timestamps for a resource, later than all existing ones.
   * @param fills whether the records belong to an import into an empty resource, if one is in progress: all are new, or published
   * because of it
   */
  next(resource: string, count: number, fills = false): readonly string[] {
    if (count === 0) return [];
    const before = this.#last.get(resource);
    const last = before?.last ?? this.#lastOfOthers;
    const isFilling =
      fills &&
      before?.filledAt !== undefined &&
      this.#now - before.filledAt <= FILLING_ENDS &&
      before.last >= this.#promised * 1000;
    const moments = allotTimestamps(count, {
      ...{ now: this.#now, promised: this.#promised, last, isFilling, over: this.#over },
      isGoingOn: this.#inBulk.has(resource),
    });
    if (isBulk(count)) this.#inBulk.add(resource);
    const newest = moments.at(-1) ?? this.#newest;
    this.#newest = Math.max(this.#newest, newest);
    this.#newestGiven = Math.max(this.#newestGiven ?? newest, newest);
    const goesOn = isFilling || (fills && last === undefined && (isBulk(count) || this.#creates));
    this.#last.set(resource, { last: newest, ...(goesOn ? { filledAt: this.#now } : {}) });
    return textsOf(moments);
  }

  /**
   * Returns the timestamp of each record: the one that was assigned in this commit, or a new one, in the order of the keys.
   * @param fills as in `next`
   */
  forRecords(resource: string, keys: readonly string[], fills = false): (key: string) => string {
    const given = this.#given.getOrInsertComputed(resource, () => new Map());
    const fresh = keys.filter((key) => !given.has(key) && given.set(key, this.moment));
    const stamps = this.next(resource, fresh.length, fills);
    for (let at = 0; at < fresh.length; at++) given.set(fresh[at] ?? '', stamps[at] ?? this.moment);
    return (key) => given.get(key) ?? this.moment;
  }

  /** What the store records in addition to its last timestamp. */
  get kept(): string {
    const last = [...this.#last].map(([name, { last, filledAt }]) => {
      const text = timestampFromMicroseconds(last);
      return [name, filledAt === undefined ? [text] : [text, filledAt]];
    });
    const others = this.#lastOfOthers;
    return JSON.stringify({
      at: this.lastStamp,
      ...(others === undefined ? {} : { others: timestampFromMicroseconds(others) }),
      last: Object.fromEntries(last),
    });
  }
}

/** The canonical texts of ascending moments; the part that all moments of one second share is formatted once. */
function textsOf(moments: readonly number[]): string[] {
  let second = Number.NaN;
  let begin = '';
  return moments.map((moment) => {
    const own = Math.floor(moment / 1e6);
    if (own !== second) {
      second = own;
      begin = new Date(own * 1000).toISOString().slice(0, 19);
    }
    return `${begin}${fractionText(String(moment - own * 1e6).padStart(6, '0'))}Z`;
  });
}

/** The record of an empty store. @param createdAt serves as its last timestamp */
export const initialTimestamps = (createdAt: string): string => JSON.stringify({ at: createdAt, last: {} });

/**
 * Parses the record. If it is missing, cannot be read, or was written with another last timestamp (by an older plat, or in an
 * earlier epoch), any resource may have the last timestamp of the store.
 */
function parseLastTimestamps(
  text: string | undefined,
  lastStamp: string,
): { readonly last: Map<string, LastTimestamp>; readonly others: number | undefined } {
  const nothing = { last: new Map<string, LastTimestamp>(), others: microsecondsOf(lastStamp) };
  if (text === undefined) return nothing;
  const value = tryParseJson(text);
  if (!isObject(value) || value.at !== lastStamp || !isObject(value.last)) return nothing;
  const others = 'others' in value ? momentOf(value.others) : undefined;
  if ('others' in value && others === undefined) return nothing;
  const last = new Map<string, LastTimestamp>();
  for (const [resource, entry] of Object.entries(value.last)) {
    const [stamp, filledAt]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    const moment = momentOf(stamp);
    if (moment === undefined) return nothing;
    last.set(resource, { last: moment, ...(typeof filledAt === 'number' ? { filledAt } : {}) });
  }
  return { last, others };
}

function momentOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const moment = microsecondsOf(text);
  return Number.isSafeInteger(moment) ? moment : undefined;
}

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
 * Allots ascending moments in microseconds since 1970, all after `last` and none before `promised`. They are after `now` only if
 * there is no room before it; the commit then waits for the clock. Each has a millisecond of its own if there is room: clients
 * truncate finer digits, and a client that pages by timestamp cannot get past a block of equal timestamps that is larger than its
 * page. Without room, up to ten share a millisecond and differ in a fourth digit. None is a whole second, so that windows that
 * share a bound in whole seconds lose nothing.
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
const isBulk = (count: number): boolean => count >= BULK;

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
