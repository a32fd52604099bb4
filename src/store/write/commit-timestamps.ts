/**
 * The timestamps that one commit gives: each record has one of its own (allot-timestamps.ts), and only one, whatever
 * changes in it; the deletion of a record has one as well. The store keeps the last one of each resource in a row of its
 * own. Every engine stamps by it; it knows none.
 */
import { fractionText, microsecondsOf, timestampFromMicroseconds } from '../../dictionary/index.ts';
import { allot, isBulk, type Span } from './allot-timestamps.ts';
import { nextStamp, type StampSource } from './next-stamp.ts';

/**
 * Milliseconds for which a promise stands once the store keeps it: whoever reads may be told moments up to so long after
 * it without asking the store to keep another one (I2). So no timestamp is given before the end of that time, unless the
 * clock itself has not come there.
 */
export const PROMISE_STANDS = 1000;

/** Milliseconds after which an import into an empty resource is taken to be over. */
const FILLING_ENDS = 60_000;

/** What a commit is told of time. */
export interface TimeSource extends StampSource {
  /** What the store keeps of the last timestamps, as `kept` gave it. */
  readonly given: string | undefined;
}

/** What is wished for a commit. */
export interface TimeWish {
  /** Milliseconds that its timestamps may lie ahead of the clock, as the work is going to take. */
  readonly ahead?: number;
  /** Where its timestamps are to lie, as far as there is room (allot-timestamps.ts). */
  readonly over?: Span | undefined;
}

/** The last timestamp of a resource. */
interface LastOf {
  /** Microseconds since 1970. */
  readonly last: number;
  /** When it was written to last, while it is being filled for the first time; milliseconds since 1970. */
  readonly filledAt?: number;
}

export class CommitTimestamps {
  /** The moment of the commit itself, canonical: never before that of the one before. */
  readonly moment: string;
  readonly #now: number;
  /** What the clock is taken for, without what it may be ahead. */
  readonly #base: number;
  readonly #promised: number;
  readonly #over: Span | undefined;
  readonly #last: Map<string, LastOf>;
  /** Of the resources that are not named. */
  readonly #lastOfOthers: number | undefined;
  readonly #given = new Map<string, Map<string, string>>();
  readonly #inBulk = new Set<string>();
  /** Of all that was given, and of the moment of the commit. */
  #newest: number;
  #newestGiven: number | undefined;

  /** @throws PlatError `clockJumped` */
  constructor(source: TimeSource, { ahead = 0, over }: TimeWish = {}) {
    const { moment, settled, lastStamp, given } = source;
    this.moment = nextStamp(source, ahead);
    this.#newest = microsecondsOf(this.moment);
    this.#now = Date.parse(this.moment);
    this.#base = Math.max(moment, settled, Date.parse(lastStamp));
    this.#promised = Math.max(settled, Math.min(this.#base, settled + PROMISE_STANDS));
    this.#over = over;
    const known = readLast(given, lastStamp);
    this.#last = known.last;
    this.#lastOfOthers = known.others;
  }

  /** The last timestamp of the store when the commit is done. Canonical. */
  get lastStamp(): string {
    return timestampFromMicroseconds(this.#newest);
  }

  /** The newest that was given to a record; the moment of the commit where none was. Canonical. */
  get newest(): string {
    return this.#newestGiven === undefined ? this.moment : timestampFromMicroseconds(this.#newestGiven);
  }

  /** Milliseconds by which the clock has to go on until nothing of the commit lies ahead of it. */
  get ahead(): number {
    return Math.floor(this.#newest / 1000) - this.#base;
  }

  /**
   * Rising timestamps of a resource, later than all that it has.
   * @param areNew whether all of the records are: only those belong to an import into an empty resource
   */
  next(resource: string, count: number, areNew = false): readonly string[] {
    if (count === 0) return [];
    const before = this.#last.get(resource);
    const last = before?.last ?? this.#lastOfOthers;
    const isFilling =
      areNew &&
      before?.filledAt !== undefined &&
      this.#now - before.filledAt <= FILLING_ENDS &&
      before.last >= this.#promised * 1000;
    const moments = allot(count, {
      ...{ now: this.#now, promised: this.#promised, last, isFilling, over: this.#over },
      isGoingOn: this.#inBulk.has(resource),
    });
    if (isBulk(count)) this.#inBulk.add(resource);
    const newest = moments.at(-1) ?? this.#newest;
    this.#newest = Math.max(this.#newest, newest);
    this.#newestGiven = Math.max(this.#newestGiven ?? newest, newest);
    const goesOn = isFilling || (areNew && last === undefined && isBulk(count));
    this.#last.set(resource, { last: newest, ...(goesOn ? { filledAt: this.#now } : {}) });
    return textsOf(moments);
  }

  /**
   * The timestamp of each record: the one that it was given in this commit, or a new one, in the order of the keys.
   * @param areNew as in `next`
   */
  of(resource: string, keys: readonly string[], areNew = false): (key: string) => string {
    const given = this.#given.get(resource) ?? new Map<string, string>();
    this.#given.set(resource, given);
    const fresh = keys.filter((key) => !given.has(key) && given.set(key, this.moment));
    const stamps = this.next(resource, fresh.length, areNew);
    for (let at = 0; at < fresh.length; at++) given.set(fresh[at] ?? '', stamps[at] ?? this.moment);
    return (key) => given.get(key) ?? this.moment;
  }

  /** What the store is to keep beside its last timestamp. */
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

/** The canonical texts of rising moments: what is the same in all of one second is written once. */
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

/** What a new store keeps, which holds nothing. @param createdAt its first last timestamp */
export const nothingGiven = (createdAt: string): string => JSON.stringify({ at: createdAt, last: {} });

/**
 * Where the row is missing, cannot be read, or was written beside another last timestamp (by a plat that does not know
 * it, or in an epoch before), any resource may have the last timestamp of the store.
 */
function readLast(
  text: string | undefined,
  lastStamp: string,
): { readonly last: Map<string, LastOf>; readonly others: number | undefined } {
  const nothing = { last: new Map<string, LastOf>(), others: microsecondsOf(lastStamp) };
  if (text === undefined) return nothing;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return nothing;
  }
  if (typeof value !== 'object' || value === null || !('at' in value) || value.at !== lastStamp)
    return nothing;
  if (!('last' in value) || typeof value.last !== 'object' || value.last === null) return nothing;
  const others = 'others' in value ? momentOf(value.others) : undefined;
  if ('others' in value && others === undefined) return nothing;
  const last = new Map<string, LastOf>();
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
