/**
 * The last day, minute by minute, of all processes of a store together. A minute in which no process is known to have
 * counted has no figures, rather than zeros. This module must not know where the figures are stored.
 */
import {
  type KeyFigures,
  MINUTE,
  type MinuteFigures,
  type SurfaceFigures,
} from '../../store/history-store.ts';
import { SURFACES, type SurfaceName } from '../surface.ts';

/** Upper bounds of the response time classes, in milliseconds: each is twice the previous one. */
export const TIMES: readonly number[] = Array.from({ length: 18 }, (_, at) => 0.25 * 2 ** at);

/** A process that counted without interruption. Times are milliseconds since 1970. */
export interface CountingProcess {
  readonly from: number;
  /** The end of the time; for other processes, the time of their last write. */
  readonly to: number;
  /** Whether it is the process that answers the request. */
  readonly isThis: boolean;
}

/** The maximum number of reported processes, the most recently active first. */
const MOST_PROCESSES = 20;

/** The usage of a key in the last day. */
export interface DayOfKey extends KeyFigures {
  /** Requests in the busiest window of the key's request limit. */
  readonly busiest: number;
}

/** A figure for each minute; null where no process is known to have counted. */
type Series = readonly (number | null)[];

/** Which processes and minutes a history covers. */
interface Covered {
  /** The start of the first minute, in milliseconds since 1970. */
  readonly from: number;
  /** The most recently active processes first. */
  readonly processes: readonly CountingProcess[];
  /** The number of further processes. */
  readonly more: number;
}

export class HistoryDay {
  readonly #from: number;
  readonly #processes: readonly CountingProcess[];
  /** For each minute, what each process counted in it; undefined if none is known to have counted. */
  readonly #minutes: readonly (readonly MinuteFigures[] | undefined)[];

  /**
   * @param processes at least one
   * @param minutes what processes counted, in any order
   * @param first the first reported minute, if any process had begun; minutes since 1970
   * @param last the last reported minute
   */
  constructor(
    processes: readonly CountingProcess[],
    minutes: readonly MinuteFigures[],
    { first, last }: { readonly first: number; readonly last: number },
  ) {
    const spans = processes.map(({ from, to }) => ({ from: minuteOf(from), to: minuteOf(to) }));
    const began = spans.reduce((least, { from }) => Math.min(least, from), last);
    this.#from = Math.max(first, began);
    this.#processes = processes.toSorted((a, b) => Number(b.isThis) - Number(a.isThis) || b.to - a.to);
    const of: (MinuteFigures[] | undefined)[] = new Array(last - this.#from + 1).fill(undefined);
    for (const { from, to } of spans) {
      for (let at = Math.max(from, this.#from); at <= Math.min(to, last); at++) of[at - this.#from] ??= [];
    }
    for (const minute of minutes) {
      const place = minute.at - this.#from;
      // After the clock was set back, counted minutes may lie outside of the range.
      if (place >= 0 && place < of.length) of[place] = [...(of[place] ?? []), minute];
    }
    this.#minutes = of;
  }

  get #covered(): Covered {
    return {
      from: this.#from * MINUTE,
      processes: this.#processes.slice(0, MOST_PROCESSES),
      more: Math.max(0, this.#processes.length - MOST_PROCESSES),
    };
  }

  /** The figures of each surface, an entry for each minute; `half` and `most` are the times of half, and of 95 in 100 requests. */
  surfaces() {
    const entries = SURFACES.map((name) => {
      const of = this.#minutes.map((parts) => parts && ofSurface(parts, name));
      const series = (which: 'requests' | 'refused' | 'failed'): Series =>
        of.map((each) => each?.[which] ?? null);
      const times = (share: number): Series => of.map((each) => timeOf(each, share));
      return [
        name,
        {
          ...{ requests: series('requests'), refused: series('refused'), failed: series('failed') },
          ...{ half: times(0.5), most: times(0.95) },
        },
      ] as const;
    });
    return { ...this.#covered, surfaces: Object.fromEntries(entries) };
  }

  /**
   * The usage in the last day of each key that was used.
   * @param windowOf the minutes over which a key's requests are limited
   */
  keys(windowOf: (id: string) => number): ReadonlyMap<string, DayOfKey> {
    const tallies = new Map<string, Tally>();
    for (const [at, parts] of this.#minutes.entries()) {
      for (const [id, use] of (parts ?? []).flatMap(({ keys }) => [...keys])) {
        tallies.getOrInsertComputed(id, () => new Tally()).add(at, use, windowOf(id));
      }
    }
    return new Map([...tallies].map(([id, { day }]) => [id, day]));
  }

  /** The usage of a key, with an entry for each minute. */
  key(id: string): Covered & Readonly<Record<keyof KeyFigures, Series>> {
    const of = this.#minutes.map((parts) => parts?.map(({ keys }) => keys.get(id)));
    const series = (which: keyof KeyFigures): Series =>
      of.map((parts) => parts?.reduce((sum, each) => sum + (each?.[which] ?? 0), 0) ?? null);
    return {
      ...this.#covered,
      ...{ requests: series('requests'), rows: series('rows') },
      ...{ bytes: series('bytes'), limited: series('limited') },
    };
  }
}

const minuteOf = (moment: number): number => Math.floor(moment / MINUTE);

/** The requests that all processes together answered on a surface in a minute. */
function ofSurface(parts: readonly MinuteFigures[], name: SurfaceName): SurfaceFigures {
  const of = parts.map(({ surfaces }) => surfaces.get(name)).filter((each) => each !== undefined);
  const sum = (amount: (each: SurfaceFigures) => number): number =>
    of.reduce((total, each) => total + amount(each), 0);
  return {
    requests: sum(({ requests }) => requests),
    refused: sum(({ refused }) => refused),
    failed: sum(({ failed }) => failed),
    times: of.length === 0 ? [] : TIMES.map((_, place) => sum(({ times }) => times[place] ?? 0)),
  };
}

/** The upper bound of the time within which a share of the requests was answered. */
function timeOf(figures: SurfaceFigures | undefined, share: number): number | null {
  if (figures === undefined) return null;
  let left = figures.requests * share;
  for (const [at, count] of figures.times.entries()) {
    left -= count;
    if (left <= 0) return TIMES[at] ?? null;
  }
  return null;
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
  add(at: number, { requests, rows, bytes, limited }: KeyFigures, window: number): void {
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
