/**
 * The history of the requests that this process has answered in the last day, minute by minute: requests, rejections, failures and
 * response times of each surface, and the usage of each key. It is in memory and begins with the process; `history-keeper.ts`
 * stores it.
 */
import { type HistoryStep, type KeyFigures, MINUTE, STEP_MINUTES } from '../../store/history-store.ts';
import type { SurfaceName } from '../surface.ts';
import { TIMES } from './history-day.ts';

interface Ended {
  readonly surface: SurfaceName;
  readonly status: number;
  readonly seconds: number;
  /** The key of the request; undefined: no known key. */
  readonly key: string | undefined;
  readonly rows: number;
  readonly bytes: number;
}

export const MINUTES_PER_DAY = 24 * 60;

/** The maximum number of keys with figures of their own in a minute. Further keys are combined. */
const MOST_KEYS = 200;
const OTHERS = 'others';

interface SurfaceCounts {
  requests: number;
  refused: number;
  failed: number;
  readonly times: number[];
}

type KeyCounts = { -readonly [Name in keyof KeyFigures]: KeyFigures[Name] };

interface Minute {
  /** Minutes since 1970. */
  readonly at: number;
  readonly surfaces: Map<SurfaceName, SurfaceCounts>;
  readonly keys: Map<string, KeyCounts>;
}

const stepOf = (minute: number): number => minute - (minute % STEP_MINUTES);

export class History {
  readonly #minutes: (Minute | undefined)[] = new Array(MINUTES_PER_DAY);
  /** When counting began, in milliseconds since 1970. */
  readonly began: number;
  /** The steps that have changed since they were last taken; minutes since 1970. */
  #changed = new Set<number>();

  /** @param now milliseconds since 1970 */
  constructor(now: number) {
    this.began = now;
  }

  addRequest({ surface, status, seconds, key, rows, bytes }: Ended, now: number): void {
    const minute = this.#changing(now);
    const figures = minute.surfaces.getOrInsertComputed(surface, newSurface);
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

  /** Records a request of a key that was rejected because of its request limit. */
  addRateLimited(key: string, now: number): void {
    useIn(this.#changing(now), key).limited++;
  }

  #changing(now: number): Minute {
    const minute = this.#minuteOf(now);
    this.#changed.add(stepOf(minute.at));
    return minute;
  }

  #minuteOf(now: number): Minute {
    const at = Math.floor(now / MINUTE);
    const known = this.#minutes[at % MINUTES_PER_DAY];
    if (known?.at === at) return known;
    const minute: Minute = { at, surfaces: new Map(), keys: new Map() };
    this.#minutes[at % MINUTES_PER_DAY] = minute;
    return minute;
  }

  /** The requests in a minute; undefined if there were none, or if it is more than a day ago. @param at minutes since 1970 */
  minute(at: number): Minute | undefined {
    const minute = this.#minutes[at % MINUTES_PER_DAY];
    return minute?.at === at ? minute : undefined;
  }

  /** The requests of the current minute, by surface. */
  currentMinute(
    now: number,
  ): Partial<Record<SurfaceName, { readonly requests: number; readonly failed: number }>> {
    const { surfaces } = this.#minuteOf(now);
    return Object.fromEntries(
      [...surfaces].map(([name, { requests, failed }]) => [name, { requests, failed }]),
    );
  }

  /** The steps that have changed since the last call; minutes since 1970. */
  takeChanged(): ReadonlySet<number> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Marks steps as changed again that could not be stored. */
  giveBack(steps: ReadonlySet<number>): void {
    for (const step of steps) this.#changed.add(step);
  }

  /** A step as it is stored. @param at minutes since 1970 */
  step(at: number, now: number): Omit<HistoryStep, 'process'> {
    const minutes = Array.from({ length: STEP_MINUTES }, (_, ahead) => this.minute(at + ahead));
    return {
      ...{ at, countedFrom: this.began, countedTo: now },
      minutes: minutes.filter((minute) => minute !== undefined),
    };
  }

  /** The step that contains a time, in minutes since 1970. */
  static stepAt(now: number): number {
    return stepOf(Math.floor(now / MINUTE));
  }
}

const newSurface = (): SurfaceCounts => ({
  requests: 0,
  refused: 0,
  failed: 0,
  times: Array.from({ length: TIMES.length }, () => 0),
});
const newKeyCounts = (): KeyCounts => ({ requests: 0, rows: 0, bytes: 0, limited: 0 });

/** The usage of a key in a minute. Keys beyond the maximum number share one entry. */
function useIn({ keys }: Minute, key: string): KeyCounts {
  const isKept = keys.has(key) || keys.size < MOST_KEYS;
  return keys.getOrInsertComputed(isKept ? key : OTHERS, newKeyCounts);
}
