/**
 * Memory that is kept to be quick: every cache of the store and the service is bounded in bytes, and says what it
 * holds, so that `/metrics` shows what grows. It knows nothing of what is kept.
 */

/** What a cache holds. */
export interface CacheUse {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

/** Something that holds memory, and says how much. */
export interface Reported {
  readonly use: Omit<CacheUse, 'name'>;
}

interface Report {
  readonly name: string;
  /** Whoever forgets a cache need not say so. */
  readonly of: WeakRef<Reported>;
}

const reports = new Set<Report>();

/** Lets `cachesInUse` tell what a cache holds, as long as it lives. @returns ends that earlier */
export function reportCache(name: string, cache: Reported): () => void {
  const report: Report = { name, of: new WeakRef(cache) };
  reports.add(report);
  gone.register(cache, report);
  return () => void reports.delete(report);
}

const gone = new FinalizationRegistry<Report>((report) => void reports.delete(report));

/** What the caches of this thread hold; those of one name together. */
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

/** What an entry takes beside its key and its value: two hash tables' places, and the objects around them. */
const ENTRY = 150;

/** Bytes of a text in memory: one for each character, or two where one of them needs it. */
export const bytesOfText = (text: string): number => (BEYOND_LATIN.test(text) ? 2 : 1) * text.length;

const BEYOND_LATIN = /[^\0-\xff]/;

export interface CacheBounds {
  readonly bytes: number;
  /** Absent: as many as fit. */
  readonly entries?: number;
}

/** A map from texts within bounds of memory; what was used longest ago goes first. */
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

  /** Keeps a value, unless it alone is larger than the bound. @param bytes what the value takes, without the key */
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

  /** Empties it for good; it is not reported any more. */
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

/** A number that stands for an object as long as it lives, for keys of caches. */
export function numberOf(object: object): number {
  const known = numbers.get(object);
  if (known !== undefined) return known;
  numbers.set(object, ++last);
  return last;
}
