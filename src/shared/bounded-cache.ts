/**
 * Caches bounded in bytes. Every cache of the store and the service reports its size, so that `/metrics` shows what
 * grows. This module does not know what is cached.
 */
import { LRUCache } from 'lru-cache';

/** The size of a cache. */
export interface CacheUse {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

/** Something that reports the memory that it uses. */
export interface Reported {
  readonly use: Omit<CacheUse, 'name'>;
}

interface Report {
  readonly name: string;
  /** Weak, so that a cache need not be unregistered. */
  readonly of: WeakRef<Reported>;
}

const reports = new Set<Report>();

/** Includes a cache in `cachesInUse` for as long as it is alive. @returns a function that ends this earlier */
export function reportCache(name: string, cache: Reported): () => void {
  const report: Report = { name, of: new WeakRef(cache) };
  reports.add(report);
  gone.register(cache, report);
  return () => void reports.delete(report);
}

const gone = new FinalizationRegistry<Report>((report) => void reports.delete(report));

/** The caches of this thread; sizes of caches with the same name are added. */
export const cachesInUse = (): readonly CacheUse[] =>
  addUses(
    [...reports].flatMap(({ name, of }) => {
      const use = of.deref()?.use;
      return use === undefined ? [] : [{ name, ...use }];
    }),
  );

export function addUses(uses: readonly CacheUse[]): readonly CacheUse[] {
  const sums = new Map<string, CacheUse>();
  for (const { name, entries, bytes } of uses) {
    const sum = sums.get(name) ?? { name, entries: 0, bytes: 0 };
    sums.set(name, { name, entries: sum.entries + entries, bytes: sum.bytes + bytes });
  }
  return [...sums.values()];
}

/** Estimated bytes of an entry without key and value: slots of two hash tables, and the objects around them. */
const ENTRY = 150;

/** The bytes of a text in memory: one per character, or two if any character needs them. */
export const bytesOfText = (text: string): number => (BEYOND_LATIN.test(text) ? 2 : 1) * text.length;

const BEYOND_LATIN = /[^\0-\xff]/;

interface CacheBounds {
  readonly bytes: number;
  /** Absent: as many as fit. */
  readonly entries?: number;
}

/** A map from texts with a limit in bytes, which evicts the least recently used entry. */
export class BoundedCache<V extends NonNullable<unknown>> implements Reported {
  readonly #kept: LRUCache<string, V>;
  readonly #end: () => void;
  /** The value whose size is being changed. */
  #resized: V | undefined;

  /** @param dropped called with each value that leaves the cache */
  constructor(name: string, { bytes, entries }: CacheBounds, dropped?: (value: V) => void) {
    this.#kept = new LRUCache({
      maxSize: bytes,
      max: entries,
      dispose: dropped && ((value) => value !== this.#resized && dropped(value)),
    });
    this.#end = reportCache(name, this);
  }

  get use(): Reported['use'] {
    return { entries: this.#kept.size, bytes: this.#kept.calculatedSize };
  }

  get(key: string): V | undefined {
    return this.#kept.get(key);
  }

  /** Adds a value, or changes its size, unless it alone exceeds the limit. @param bytes size of the value without the key */
  put(key: string, value: V, bytes: number): V {
    if (this.#kept.peek(key) === value) {
      this.#resized = value;
      this.#kept.delete(key);
      this.#resized = undefined;
    }
    this.#kept.set(key, value, { size: bytes + bytesOfText(key) + ENTRY });
    return value;
  }

  delete(key: string): void {
    this.#kept.delete(key);
  }

  clear(): void {
    this.#kept.clear();
  }

  /** Empties the cache and ends its reports. */
  close(): void {
    this.clear();
    this.#end();
  }
}
