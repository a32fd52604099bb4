import { hash, randomUUID } from 'node:crypto';
import { PlatError } from '../../errors/index.ts';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';
import type { Clock } from '../../store/clock.ts';
import type { KeptList, Shared } from '../../store/shared.ts';

/** The keys that a filter found when it was first asked, as ids in key order, or in one that was asked for. */
export type FilterIndex = KeptList;

/** Whose list, and of what: the key, and everything that makes two filters the same. */
export interface ListName {
  readonly key: string;
  readonly text: string;
}

interface Found {
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

/** The lists of one key; the least recently used is the first. */
interface Shelf {
  readonly entries: Map<string, Entry>;
  bytes: number;
}

interface CacheLimits {
  /** How long an index is kept; 0: none is. */
  readonly milliseconds: number;
  /** All indexes together, with all that belongs to them; one that is larger by itself is not kept. */
  readonly bytes: number;
}

type Find = () => Promise<Omit<FilterIndex, 'id'>>;

/**
 * What a list takes beside its ids: the hash that is its name, its id, the promise of it, the objects and the places in
 * tables around them. A list that is empty, or is still being made, takes as much.
 */
export const LIST_OVERHEAD = 1200;

/** Milliseconds from one look for expired lists to the next. */
const SWEEP_EVERY = 60_000;

/**
 * The cache of the specification's section 8: the same filter, sent twice by one key within ten minutes, walks the
 * list of records that the first request found. When memory is short, the key whose lists take the most loses the one
 * that it used longest ago. Where several processes serve a store, the list that the store keeps is the one that counts
 * in all of them, and what is kept here is a copy of it.
 */
export class FilterIndexCache implements Reported {
  readonly #limits: CacheLimits;
  readonly #clock: Clock;
  readonly #shared: Shared | undefined;
  readonly #shelves = new Map<string, Shelf>();
  readonly #end: () => void;
  #bytes = 0;
  #swept: number;

  constructor(limits: CacheLimits, clock: Clock, shared?: Shared) {
    this.#limits = limits;
    this.#clock = clock;
    this.#shared = shared;
    this.#swept = clock.now();
    this.#end = reportCache('filter indexes', this);
  }

  get use(): Reported['use'] {
    return { entries: this.size, bytes: this.#bytes };
  }

  /** Bytes that are held, for metrics. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#shelves.values().reduce((sum, { entries }) => sum + entries.size, 0);
  }

  /** Bytes of the lists of one key. */
  bytesOf(key: string): number {
    return this.#shelves.get(key)?.bytes ?? 0;
  }

  /** @param find gives the ids in key order, from one snapshot */
  async take(list: ListName, find: Find): Promise<Found> {
    if (this.#limits.milliseconds === 0) {
      const { index } = await this.#make('', find);
      return { index, state: 'fresh', age: 0 };
    }
    this.#sweepNow();
    const name = nameOf(list);
    for (;;) {
      const known = this.#find(list.key, name);
      if (known === undefined) break;
      const isGood = await this.#isGood(name, known);
      if (this.#find(list.key, name) !== known) continue; // another request has been quicker
      if (!isGood) {
        this.#drop(list.key, name, known);
        break;
      }
      this.#touch(list.key, name, known);
      const shared = await known.making.catch(unlessGone);
      if (shared === undefined) continue;
      return { index: shared.index, state: 'cached', age: this.#age(shared.made) };
    }
    const entry: Entry = { making: this.#make(name, find), bytes: 0 };
    this.#add(list.key, name, entry);
    try {
      const made = await entry.making;
      entry.made = made;
      this.#account(list.key, name, entry, made.index.ids.buffer.byteLength);
      const { index, state } = made;
      return { index, state, age: state === 'fresh' ? 0 : this.#age(made.made) };
    } catch (error) {
      this.#drop(list.key, name, entry);
      throw error;
    }
  }

  /** The ids of an index in another order. */
  async inOrder(
    key: string,
    index: FilterIndex,
    order: string,
    sort: () => Promise<Uint32Array>,
  ): Promise<FilterIndex> {
    const find: Find = async () => ({ ids: await sort(), openWindow: index.openWindow });
    return (await this.take({ key, text: JSON.stringify([index.id, order]) }, find)).index;
  }

  /** Forgets what has expired, here and in what the processes share. */
  async sweep(): Promise<void> {
    this.#swept = this.#clock.now();
    for (const [key, { entries }] of this.#shelves) {
      for (const [name, entry] of entries) if (this.#isExpired(entry)) this.#drop(key, name, entry);
    }
    await this.#shared?.sweepLists(this.#limits.bytes);
  }

  /** It is empty from now on, and not reported any more. */
  close(): void {
    this.#shelves.clear();
    this.#bytes = 0;
    this.#end();
  }

  /** Sweeps what is kept here, when it is time: a service that is asked must not depend on its timers. */
  #sweepNow(): void {
    const since = this.#clock.now() - this.#swept;
    if (since >= 0 && since < SWEEP_EVERY) return;
    // Whatever the server says of its own, nobody waits for it.
    void this.sweep().catch(() => undefined);
  }

  #age(made: number): number {
    return Math.floor((this.#clock.now() - made) / 1000);
  }

  /** A clock that was set back must not make a list last longer. */
  #isExpired({ made }: Entry): boolean {
    if (made === undefined) return false;
    const age = this.#clock.now() - made.made;
    return age < 0 || age >= this.#limits.milliseconds;
  }

  /** Whether an entry still counts. One that is being made is good for all who ask meanwhile. */
  async #isGood(name: string, entry: Entry): Promise<boolean> {
    if (entry.made === undefined) return true;
    if (this.#isExpired(entry)) return false;
    return this.#shared === undefined || this.#shared.isListCurrent(name, entry.made.index.id);
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

  #find(key: string, name: string): Entry | undefined {
    return this.#shelves.get(key)?.entries.get(name);
  }

  #touch(key: string, name: string, entry: Entry): void {
    const entries = this.#shelves.get(key)?.entries;
    entries?.delete(name);
    entries?.set(name, entry);
  }

  #add(key: string, name: string, entry: Entry): void {
    const shelf = this.#shelves.get(key) ?? { entries: new Map<string, Entry>(), bytes: 0 };
    this.#shelves.set(key, shelf);
    shelf.entries.set(name, entry);
    this.#account(key, name, entry, LIST_OVERHEAD);
  }

  #account(key: string, name: string, entry: Entry, bytes: number): void {
    const shelf = this.#shelves.get(key);
    if (shelf?.entries.get(name) !== entry) return;
    entry.bytes += bytes;
    shelf.bytes += bytes;
    this.#bytes += bytes;
    if (entry.bytes > this.#limits.bytes) this.#drop(key, name, entry);
    while (this.#bytes > this.#limits.bytes) this.#makeRoom();
  }

  /** The key whose lists take the most gives up the one that it used longest ago. */
  #makeRoom(): void {
    let greediest: [string, Shelf] | undefined;
    for (const each of this.#shelves) {
      if (greediest === undefined || each[1].bytes > greediest[1].bytes) greediest = each;
    }
    const [key, shelf] = greediest ?? [];
    const [oldest] = shelf?.entries ?? [];
    if (key === undefined || oldest === undefined) throw new Error('Bytes are counted that no list holds');
    this.#drop(key, ...oldest);
  }

  #drop(key: string, name: string, entry: Entry): void {
    const shelf = this.#shelves.get(key);
    if (shelf?.entries.get(name) !== entry) return;
    shelf.entries.delete(name);
    shelf.bytes -= entry.bytes;
    this.#bytes -= entry.bytes;
    if (shelf.entries.size === 0) this.#shelves.delete(key);
  }
}

/** Whoever has begun to look for a list and is gone leaves it to the next who asks. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof PlatError) || error.code !== 'clientGone') throw error;
}

/** The name of a list, as long for a long filter as for a short one; what stands before the dot is the same for a key. */
function nameOf({ key, text }: ListName): string {
  return `${hash('sha256', key, 'base64url').slice(0, 22)}.${hash('sha256', `${key} ${text}`, 'base64url')}`;
}
