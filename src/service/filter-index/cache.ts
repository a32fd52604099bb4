import type { Clock } from '../../store/clock.ts';

/** The keys that a filter found when it was first asked, as ids; and how long ago that was. */
export interface FilterIndex {
  /** Names it in skip tokens. */
  readonly id: string;
  /** Milliseconds on the service's clock. */
  readonly made: number;
  /** Ids in key order. */
  readonly ids: Uint32Array;
  /** The filter is a window that ended in the future when it was asked: records may have entered it since. */
  readonly openWindow: boolean;
  /** The same ids in orders that were asked for. */
  readonly orders: Map<string, Uint32Array>;
}

export interface Found {
  readonly index: FilterIndex;
  readonly state: 'fresh' | 'cached';
  /** Seconds since the index was made. */
  readonly age: number;
}

interface Entry {
  readonly index: Promise<FilterIndex>;
  readonly made: number;
  bytes: number;
}

export interface CacheLimits {
  /** How long an index is kept; 0: none is. */
  readonly milliseconds: number;
  /** All indexes together; one that is larger by itself is not kept. */
  readonly bytes: number;
}

/**
 * The cache of the specification's section 8: the same filter, sent twice by one key within ten minutes, walks the
 * list of records that the first request found. Least recently used lists go first.
 */
export class FilterIndexCache {
  readonly #limits: CacheLimits;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #nextId = 1;

  constructor(limits: CacheLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Bytes that are held, for metrics. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * @param name key, resource and filter
   * @param find gives the ids in key order, from one snapshot
   */
  async take(name: string, find: () => Promise<Pick<FilterIndex, 'ids' | 'openWindow'>>): Promise<Found> {
    const now = this.#clock.now();
    const known = this.#entries.get(name);
    // A clock that was set back must not make a list last longer.
    if (known !== undefined && now >= known.made && now - known.made < this.#limits.milliseconds) {
      this.#entries.delete(name); // the least recently used is the first
      this.#entries.set(name, known);
      return { index: await known.index, state: 'cached', age: Math.floor((now - known.made) / 1000) };
    }
    if (known !== undefined) this.#drop(name, known);
    const id = `${this.#nextId++}.${now}`;
    const index = find().then((found) => ({ id, made: now, ...found, orders: new Map() }));
    if (this.#limits.milliseconds === 0) return { index: await index, state: 'fresh', age: 0 };
    const entry: Entry = { index, made: now, bytes: 0 };
    this.#entries.set(name, entry);
    try {
      const made = await index;
      this.#account(name, entry, made.ids.byteLength);
      return { index: made, state: 'fresh', age: 0 };
    } catch (error) {
      this.#drop(name, entry);
      throw error;
    }
  }

  /** The ids of an index in another order, kept with it. */
  async inOrder(
    name: string,
    index: FilterIndex,
    order: string,
    sort: () => Promise<Uint32Array>,
  ): Promise<Uint32Array> {
    const known = index.orders.get(order);
    if (known !== undefined) return known;
    const sorted = await sort();
    index.orders.set(order, sorted);
    const entry = this.#entries.get(name);
    if (entry !== undefined && (await entry.index) === index) this.#account(name, entry, sorted.byteLength);
    return sorted;
  }

  #account(name: string, entry: Entry, bytes: number): void {
    if (this.#entries.get(name) !== entry) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (entry.bytes > this.#limits.bytes) this.#drop(name, entry);
    for (const [other, oldest] of this.#entries) {
      if (this.#bytes <= this.#limits.bytes) break;
      if (oldest !== entry) this.#drop(other, oldest);
    }
  }

  #drop(name: string, entry: Entry): void {
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }
}
