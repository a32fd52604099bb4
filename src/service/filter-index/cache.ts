import { randomUUID } from 'node:crypto';
import type { Clock } from '../../store/clock.ts';
import type { KeptList, Shared } from '../../store/shared.ts';

/** The keys that a filter found when it was first asked, as ids in key order, or in one that was asked for. */
export type FilterIndex = KeptList;

export interface Found {
  readonly index: FilterIndex;
  readonly state: 'fresh' | 'cached';
  /** Seconds since the index was made. */
  readonly age: number;
}

/** An index, and when it was made on the service's clock. */
interface Made {
  readonly index: FilterIndex;
  readonly made: number;
  readonly state: Found['state'];
}

interface Entry {
  readonly making: Promise<Made>;
  /** Absent while it is being made. */
  made?: Made;
  bytes: number;
}

export interface CacheLimits {
  /** How long an index is kept; 0: none is. */
  readonly milliseconds: number;
  /** All indexes together; one that is larger by itself is not kept. */
  readonly bytes: number;
}

type Find = () => Promise<Omit<FilterIndex, 'id'>>;

/**
 * The cache of the specification's section 8: the same filter, sent twice by one key within ten minutes, walks the
 * list of records that the first request found. Least recently used lists go first. Where several processes serve a
 * store, the list that the store keeps is the one that counts in all of them, and what is kept here is a copy of it.
 */
export class FilterIndexCache {
  readonly #limits: CacheLimits;
  readonly #clock: Clock;
  readonly #shared: Shared | undefined;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limits: CacheLimits, clock: Clock, shared?: Shared) {
    this.#limits = limits;
    this.#clock = clock;
    this.#shared = shared;
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
  async take(name: string, find: Find): Promise<Found> {
    for (;;) {
      const known = this.#entries.get(name);
      if (known === undefined) break;
      const isGood = await this.#isGood(name, known);
      if (this.#entries.get(name) !== known) continue; // another request has been quicker
      this.#entries.delete(name);
      if (!isGood) {
        this.#bytes -= known.bytes;
        break;
      }
      this.#entries.set(name, known); // the least recently used is the first
      const { index, made } = await known.making;
      return { index, state: 'cached', age: this.#age(made) };
    }
    const making = this.#make(name, find);
    if (this.#limits.milliseconds === 0) return { index: (await making).index, state: 'fresh', age: 0 };
    const entry: Entry = { making, bytes: 0 };
    this.#entries.set(name, entry);
    try {
      const made = await making;
      entry.made = made;
      this.#account(name, entry, made.index.ids.byteLength);
      const { index, state } = made;
      return { index, state, age: state === 'fresh' ? 0 : this.#age(made.made) };
    } catch (error) {
      this.#drop(name, entry);
      throw error;
    }
  }

  /** The ids of an index in another order. */
  async inOrder(index: FilterIndex, order: string, sort: () => Promise<Uint32Array>): Promise<FilterIndex> {
    const find: Find = async () => ({ ids: await sort(), openWindow: index.openWindow });
    return (await this.take(JSON.stringify([index.id, order]), find)).index;
  }

  #age(made: number): number {
    return Math.floor((this.#clock.now() - made) / 1000);
  }

  /** Whether an entry still counts. One that is being made is good for all who ask meanwhile. */
  async #isGood(name: string, { made }: Entry): Promise<boolean> {
    if (made === undefined) return true;
    const age = this.#clock.now() - made.made;
    // A clock that was set back must not make a list last longer.
    if (age < 0 || age >= this.#limits.milliseconds) return false;
    return this.#shared === undefined || this.#shared.isListCurrent(name, made.index.id);
  }

  async #make(name: string, find: Find): Promise<Made> {
    const began = this.#clock.now();
    const shared = this.#limits.milliseconds === 0 ? undefined : this.#shared;
    const kept = await shared?.findList(name);
    if (kept !== undefined) return { index: kept, made: began - kept.age, state: 'cached' };
    const { milliseconds, bytes } = this.#limits;
    const made = this.#clock.now();
    const index: FilterIndex = { id: randomUUID(), ...(await find()) };
    if (shared === undefined || index.ids.byteLength > bytes) return { index, made, state: 'fresh' };
    // Another process may have been quicker: then its list is the one that counts.
    const age = Math.max(0, this.#clock.now() - made);
    const counts = await shared.keepList(name, index, { age, milliseconds, bytes });
    if (counts.id === index.id) return { index, made, state: 'fresh' };
    return { index: counts, made: this.#clock.now() - counts.age, state: 'cached' };
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
