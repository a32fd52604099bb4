/**
 * Caches bounded in bytes. Every cache of the store and the service reports its size, so that `/metrics` shows what
 * grows. This module does not know what is cached.
 */

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
export class BoundedCache<V> implements Reported {
  readonly #bounds: CacheBounds;
  readonly #entries = new Map<string, { readonly value: V; readonly bytes: number }>();
  readonly #end: () => void;
  #bytes = 0;

  constructor(name: string, bounds: CacheBounds) {
    this.#bounds = bounds;
    this.#end = reportCache(name, this);
  }

  get use(): Reported['use'] {
    return { entries: this.#entries.size, bytes: this.#bytes };
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key); // the least recently used is the first
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Adds a value, unless it alone exceeds the limit. @param bytes size of the value without the key */
  put(key: string, value: V, bytes: number): V {
    this.#drop(key);
    const entry = { value, bytes: bytes + bytesOfText(key) + ENTRY };
    if (entry.bytes > this.#bounds.bytes) return value;
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    const { bytes: most, entries = Number.POSITIVE_INFINITY } = this.#bounds;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= most && this.#entries.size <= entries) break;
      this.#drop(oldest);
    }
    return value;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** Empties the cache and ends its reports. */
  close(): void {
    this.clear();
    this.#end();
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

const numbers = new WeakMap<object, number>();
let last = 0;

/** A number that identifies an object during its lifetime, for keys of caches. */
export function numberOf(object: object): number {
  const known = numbers.get(object);
  if (known !== undefined) return known;
  numbers.set(object, ++last);
  return last;
}
