/**
 * What the service did in the last day, in steps of a minute: requests, refusals, failures and times of each surface, and the
 * use of each key. It lives in the memory of one process and begins with it.
 */
import { SURFACES, type SurfaceName } from '../surface.ts';

/** A request that has ended. */
interface Ended {
  readonly surface: SurfaceName;
  readonly status: number;
  readonly seconds: number;
  /** The key that asked; undefined: none that is known. */
  readonly key: string | undefined;
  readonly rows: number;
  readonly bytes: number;
}

const MINUTE = 60_000;
const MINUTES = 24 * 60;

/** Upper ends of the times that are told apart, in milliseconds: each is twice the one before. */
const TIMES = Array.from({ length: 18 }, (_, at) => 0.25 * 2 ** at);

/** Keys of a minute that have figures of their own; the others are summed up. */
const MOST_KEYS = 200;
const OTHERS = 'others';

interface OfSurface {
  requests: number;
  refused: number;
  failed: number;
  readonly times: Uint32Array;
}

interface OfKey {
  requests: number;
  rows: number;
  bytes: number;
  /** Requests beyond the limit on requests; they are not among the others. */
  limited: number;
}

/** What a key did in the last day. */
export interface DayOfKey extends Readonly<OfKey> {
  /** Requests in the busiest of the windows over which they are limited. */
  readonly busiest: number;
}

interface Minute {
  /** Minutes since 1970. */
  readonly at: number;
  readonly surfaces: Map<SurfaceName, OfSurface>;
  readonly keys: Map<string, OfKey>;
}

/** Figures of one surface, an entry for each minute of the history. */
interface SurfaceHistory {
  readonly requests: number[];
  /** Answers with a status of 400 to 499. */
  readonly refused: number[];
  /** Answers with a status of 500 or more. */
  readonly failed: number[];
  /** Milliseconds within which half of the requests were answered; null where there were none. */
  readonly half: (number | null)[];
  /** The same for 95 of 100. */
  readonly most: (number | null)[];
}

export class History {
  readonly #minutes: (Minute | undefined)[] = new Array(MINUTES);
  readonly #began: number;

  /** @param now milliseconds since 1970 */
  constructor(now: number) {
    this.#began = Math.floor(now / MINUTE);
  }

  note({ surface, status, seconds, key, rows, bytes }: Ended, now: number): void {
    const minute = this.#minuteOf(now);
    const figures = found(minute.surfaces, surface, newSurface);
    figures.requests++;
    if (status >= 500) figures.failed++;
    else if (status >= 400) figures.refused++;
    const place = TIMES.findIndex((end) => seconds * 1000 <= end);
    const time = place < 0 ? TIMES.length - 1 : place;
    figures.times[time] = (figures.times[time] ?? 0) + 1;
    if (key === undefined) return;
    const use = useIn(minute, key);
    use.requests++;
    use.rows += rows;
    use.bytes += bytes;
  }

  /** Notes a request of a key that was refused since the key had asked too often. */
  noteLimited(key: string, now: number): void {
    useIn(this.#minuteOf(now), key).limited++;
  }

  #minuteOf(now: number): Minute {
    const at = Math.floor(now / MINUTE);
    const known = this.#minutes[at % MINUTES];
    if (known?.at === at) return known;
    const minute: Minute = { at, surfaces: new Map(), keys: new Map() };
    this.#minutes[at % MINUTES] = minute;
    return minute;
  }

  /** The minutes that there are figures of, at most a day, the present one last. */
  #span(now: number): { readonly from: number; readonly minutes: (Minute | undefined)[] } {
    const last = Math.floor(now / MINUTE);
    const from = Math.max(this.#began, last - MINUTES + 1);
    const minutes = Array.from({ length: Math.max(1, last - from + 1) }, (_, ahead) => {
      const minute = this.#minutes[(from + ahead) % MINUTES];
      return minute?.at === from + ahead ? minute : undefined;
    });
    return { from, minutes };
  }

  /** @returns the start of the first minute, in milliseconds since 1970, and the figures of each surface */
  surfaces(now: number): {
    readonly from: number;
    readonly surfaces: Partial<Record<SurfaceName, SurfaceHistory>>;
  } {
    const { from, minutes } = this.#span(now);
    const surfaces: Partial<Record<SurfaceName, SurfaceHistory>> = {};
    for (const name of SURFACES) {
      const of = minutes.map((minute) => minute?.surfaces.get(name));
      surfaces[name] = {
        requests: of.map((each) => each?.requests ?? 0),
        refused: of.map((each) => each?.refused ?? 0),
        failed: of.map((each) => each?.failed ?? 0),
        half: of.map((each) => timeOf(each, 0.5)),
        most: of.map((each) => timeOf(each, 0.95)),
      };
    }
    return { from: from * MINUTE, surfaces };
  }

  /** The requests of the present minute, by surface. */
  present(now: number): Partial<Record<SurfaceName, { readonly requests: number; readonly failed: number }>> {
    const { surfaces } = this.#minuteOf(now);
    return Object.fromEntries(
      [...surfaces].map(([name, { requests, failed }]) => [name, { requests, failed }]),
    );
  }

  /**
   * What each key did in the span, of the keys that did anything.
   * @param windowOf the minutes over which a key's requests are limited
   */
  keys(now: number, windowOf: (id: string) => number): ReadonlyMap<string, DayOfKey> {
    const { from, minutes } = this.#span(now);
    const tallies = new Map<string, Tally>();
    for (const [ahead, minute] of minutes.entries()) {
      for (const [id, use] of minute?.keys ?? [])
        found(tallies, id, newTally).add(from + ahead, use, windowOf(id));
    }
    return new Map([...tallies].map(([id, { day }]) => [id, day]));
  }

  /** The use of a key, an entry for each minute. */
  key(id: string, now: number): { readonly from: number } & Readonly<Record<keyof OfKey, number[]>> {
    const { from, minutes } = this.#span(now);
    const of = minutes.map((minute) => minute?.keys.get(id));
    return {
      from: from * MINUTE,
      requests: of.map((each) => each?.requests ?? 0),
      rows: of.map((each) => each?.rows ?? 0),
      bytes: of.map((each) => each?.bytes ?? 0),
      limited: of.map((each) => each?.limited ?? 0),
    };
  }
}

const newSurface = (): OfSurface => ({
  requests: 0,
  refused: 0,
  failed: 0,
  times: new Uint32Array(TIMES.length),
});
const newKey = (): OfKey => ({ requests: 0, rows: 0, bytes: 0, limited: 0 });

/** The use of a key in a minute; what a crowd of keys does is summed up. */
function useIn({ keys }: Minute, key: string): OfKey {
  const isKept = keys.has(key) || keys.size < MOST_KEYS;
  return found(keys, isKept ? key : OTHERS, newKey);
}

/** Adds up the minutes of a key, in their order. */
class Tally {
  readonly #day = { requests: 0, rows: 0, bytes: 0, limited: 0, busiest: 0 };
  readonly #recent: { readonly at: number; readonly requests: number }[] = [];
  #inWindow = 0;

  get day(): DayOfKey {
    return this.#day;
  }

  /** @param window the minutes over which requests are limited */
  add(at: number, { requests, rows, bytes, limited }: OfKey, window: number): void {
    this.#recent.push({ at, requests });
    this.#inWindow += requests;
    for (
      let first = this.#recent[0];
      first !== undefined && first.at <= at - window;
      first = this.#recent[0]
    ) {
      this.#recent.shift();
      this.#inWindow -= first.requests;
    }
    const day = this.#day;
    day.requests += requests;
    day.rows += rows;
    day.bytes += bytes;
    day.limited += limited;
    day.busiest = Math.max(day.busiest, this.#inWindow);
  }
}

const newTally = (): Tally => new Tally();

function found<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The upper end of the time within which a share of the requests was answered. */
function timeOf(figures: OfSurface | undefined, share: number): number | null {
  if (figures === undefined) return null;
  let left = figures.requests * share;
  for (const [at, count] of figures.times.entries()) {
    left -= count;
    if (left <= 0) return TIMES[at] ?? null;
  }
  return null;
}
