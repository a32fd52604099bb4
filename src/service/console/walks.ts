/**
 * Tracks which keys walk through the data, how far and how fast: the pages of each key, combined to walks and windows, for a day.
 * It is in memory and begins with the process. It must not know how pages are read.
 */
import type { WalkPage } from '../exchange.ts';
import type { SurfaceName } from '../surface.ts';

/**
 * A walk through the records of a resource, through its keys only, or through a window of it. Times are milliseconds since 1970.
 */
interface Walk {
  readonly surface: SurfaceName;
  readonly resource: string;
  readonly of: WalkPage['of'];
  /** The bounds of a window. */
  readonly window?: string;
  readonly began: number;
  readonly last: number;
  readonly pages: number;
  readonly rows: number;
  readonly state: 'walking' | 'done' | 'left';
  /** Whether its beginning was not observed, for instance because another process answered it. */
  readonly isPart: boolean;
}

interface KeyWalks {
  readonly key: string;
  /** Running walks, with the number of pages in the last minute; the latest last. */
  readonly current: readonly (Walk & { readonly pagesPerMinute: number })[];
  /** Walks that ended in the last day, the oldest first. */
  readonly ended: readonly Walk[];
}

interface Current extends Walk {
  readonly reached: readonly string[];
  /** The times of its latest pages. */
  readonly moments: readonly number[];
}

interface WalksOfKey {
  readonly current: Map<string, Current>;
  ended: Walk[];
}

const DAY = 24 * 3_600_000;
const MINUTE = 60_000;
/** A walk without a page for this long counts as abandoned. */
const ABANDONED_AFTER = 3_600_000;
/** The maximum number of ended walks of a key, of keys, and of simultaneous walks of a key. */
const MOST_ENDED = 300;
const MOST_KEYS = 200;
const MOST_CURRENT = 40;
/** The number of pages whose times are kept, to compute the speed. */
const MOST_MOMENTS = 600;

export class Walks {
  readonly #keys = new Map<string, WalksOfKey>();

  /** @param now milliseconds since 1970 */
  recordPage(key: string, surface: SurfaceName, reading: WalkPage, rows: number, now: number): void {
    const walks = this.#of(key);
    const { resource, of, window, step } = reading;
    const name = [surface, resource, of, window ?? ''].join(' ');
    const known = walks.current.get(name);
    const goesOn = known !== undefined && step.from !== '' && known.reached.includes(step.from);
    if (known !== undefined && !goesOn) this.#end(walks, known, 'left');
    const before = goesOn ? known : undefined;
    const walk: Current = {
      surface,
      resource,
      of,
      window,
      began: before?.began ?? now,
      last: now,
      pages: (before?.pages ?? 0) + 1,
      rows: (before?.rows ?? 0) + rows,
      state: 'walking',
      isPart: before?.isPart ?? step.from !== '',
      reached: step.reached,
      moments: [...(before?.moments ?? []), now].filter((at) => at > now - MINUTE).slice(-MOST_MOMENTS),
    };
    // Keep the walk with the latest page last.
    walks.current.delete(name);
    if (step.ended) this.#end(walks, walk, 'done');
    else walks.current.set(name, walk);
    const [oldest] = walks.current.values();
    if (oldest !== undefined && walks.current.size > MOST_CURRENT) this.#leave(walks, oldest);
  }

  #of(key: string): WalksOfKey {
    const known = this.#keys.get(key);
    const walks = known ?? { current: new Map<string, Current>(), ended: [] };
    // Keep the key with the latest page last.
    this.#keys.delete(key);
    this.#keys.set(key, walks);
    const [longest] = this.#keys.keys();
    if (longest !== undefined && this.#keys.size > MOST_KEYS) this.#keys.delete(longest);
    return walks;
  }

  #end(walks: WalksOfKey, { reached: _, moments: __, ...walk }: Current, state: Walk['state']): void {
    walks.ended = [...walks.ended.filter(({ last }) => last > walk.last - DAY), { ...walk, state }].slice(
      -MOST_ENDED,
    );
  }

  #leave(walks: WalksOfKey, walk: Current): void {
    for (const [name, each] of walks.current) if (each === walk) walks.current.delete(name);
    this.#end(walks, walk, 'left');
  }

  /** Every key that walked in the last day. */
  all(now: number): readonly KeyWalks[] {
    const found: KeyWalks[] = [];
    for (const [key, walks] of this.#keys) {
      for (const walk of walks.current.values())
        if (walk.last <= now - ABANDONED_AFTER) this.#leave(walks, walk);
      const current = [...walks.current.values()].map(({ reached: _, moments, ...walk }) => ({
        ...walk,
        pagesPerMinute: moments.filter((at) => at > now - MINUTE).length,
      }));
      const ended = walks.ended.filter(({ last }) => last > now - DAY);
      if (current.length + ended.length > 0) found.push({ key, current, ended });
    }
    return found;
  }
}
