/**
 * Caches bounded in bytes. Every cache of the store and the service reports its size, so that `/metrics` shows what
 * grows. This module does not know what is cached.
 */
import { LRUCache } from 'lru-cache';

export interface CacheSize {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

/** Something that reports the memory that it uses. */
export interface SizedCache {
  readonly use: Omit<CacheSize, 'name'>;
}

interface RegisteredCache {
  readonly name: string;
  /** Weak, so that a cache need not be unregistered. */
  readonly of: WeakRef<SizedCache>;
}

const registeredCaches = new Set<RegisteredCache>();

/** Includes a cache in `cacheSizes` until it is garbage-collected. @returns a function that ends this earlier */
export function registerCache(name: string, cache: SizedCache): () => void {
  const entry: RegisteredCache = { name, of: new WeakRef(cache) };
  registeredCaches.add(entry);
  unregisterCollected.register(cache, entry);
  return () => void registeredCaches.delete(entry);
}

const unregisterCollected = new FinalizationRegistry<RegisteredCache>(
  (report) => void registeredCaches.delete(report),
);

/** The caches of this thread; sizes of caches with the same name are added. */
export const cacheSizes = (): readonly CacheSize[] =>
  sumCacheSizes(
    [...registeredCaches].flatMap(({ name, of }) => {
      const use = of.deref()?.use;
      return use === undefined ? [] : [{ name, ...use }];
    }),
  );

export function sumCacheSizes(sizes: readonly CacheSize[]): readonly CacheSize[] {
  const sums = new Map<string, CacheSize>();
  for (const { name, entries, bytes } of sizes) {
    const sum = sums.get(name) ?? { name, entries: 0, bytes: 0 };
    sums.set(name, { name, entries: sum.entries + entries, bytes: sum.bytes + bytes });
  }
  return [...sums.values()];
}

/** The estimated bytes of an entry without its key and value: slots of two hash tables, and the objects around them. */
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
export class BoundedCache<V extends NonNullable<unknown>> implements SizedCache {
  readonly #kept: LRUCache<string, V>;
  readonly #end: () => void;
  /** The value whose size is being changed. */
  #resized: V | undefined;

  /** @param onEvict called with each value that leaves the cache */
  constructor(name: string, { bytes, entries }: CacheBounds, onEvict?: (value: V) => void) {
    this.#kept = new LRUCache({
      maxSize: bytes,
      max: entries,
      dispose: onEvict && ((value) => value !== this.#resized && onEvict(value)),
    });
    this.#end = registerCache(name, this);
  }

  get use(): SizedCache['use'] {
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
