/** The filter-index cache (specification 8): the lists of records that filters found. It must not know what a filter is. */
import { hash, randomUUID } from 'node:crypto';
import { PlatError } from '../../errors/index.ts';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';
import type { Clock } from '../../store/clock.ts';
import type { KeptList, Shared } from '../../store/shared.ts';
import { LookChanged } from '../../store/store.ts';

/** The records that a filter found when it was first asked, as ids in the order in which they were requested first. */
export type FilterIndex = KeptList;

/** The key that asks, and everything that makes two filters the same. */
export interface ListName {
  readonly key: string;
  readonly text: string;
}

/** A list that an answer was cut from, so that a later request can ask whether it would use the same one. */
export interface UsedList {
  /** The key whose list it is. */
  readonly key: string;
  readonly name: string;
  /** Of the index that was used under that name. */
  readonly id: string;
}

interface Found {
  readonly index: FilterIndex;
  readonly state: 'fresh' | 'cached';
  /** Seconds since the index was made. */
  readonly age: number;
  /** Absent where no lists are kept. */
  readonly used?: UsedList;
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
interface KeyLists {
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

/** What a request begins with a list that it has found, before it is known whether that list is the one that counts. */
type Begin = (index: FilterIndex) => void;

/**
 * Bytes that a list takes beside its ids: its name, its id, its promise, and the objects and table slots around them. A list
 * that is empty, or still being made, takes as much.
 */
export const LIST_OVERHEAD = 1200;

/** Milliseconds between two looks for expired lists. */
const SWEEP_EVERY = 60_000;

/**
 * The same filter, sent twice by one key within ten minutes, walks the list of records that the first request found. When
 * memory is short, the key whose lists take the most loses the one that it used longest ago. Where several processes serve a
 * store, the list that the store keeps counts in all of them, and the one here is a copy.
 */
export class FilterIndexCache implements Reported {
  readonly #limits: CacheLimits;
  readonly #clock: Clock;
  readonly #shared: Shared | undefined;
  readonly #lists = new Map<string, KeyLists>();
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

  /** Bytes of all lists, for metrics. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#lists.values().reduce((sum, { entries }) => sum + entries.size, 0);
  }

  /** Bytes of the lists of one key. */
  bytesOf(key: string): number {
    return this.#lists.get(key)?.bytes ?? 0;
  }

  /**
   * @param find gives the ids from one snapshot, in whatever order it names
   * @param begin given by a request that is likely to be the first with its filter: neither `find` nor the page that the
   *   request begins then waits for the store's list of what other processes keep. A list that another process kept before
   *   is still used
   */
  async take(list: ListName, find: Find, begin?: Begin): Promise<Found> {
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
      const { index, made } = shared;
      return { index, state: 'cached', age: this.#age(made), used: { key: list.key, name, id: index.id } };
    }
    const entry: Entry = { making: this.#make(name, find, begin), bytes: 0 };
    this.#add(list.key, name, entry);
    try {
      const made = await entry.making;
      entry.made = made;
      this.#account(list.key, name, entry, made.index.ids.buffer.byteLength);
      const { index, state } = made;
      const used = { key: list.key, name, id: index.id };
      return { index, state, age: state === 'fresh' ? 0 : this.#age(made.made), used };
    } catch (error) {
      this.#drop(list.key, name, entry);
      throw error;
    }
  }

  /**
   * Whether a request would walk this list now; it then counts as used.
   * @returns its age in seconds, or undefined
   */
  async ageOf({ key, name, id }: UsedList): Promise<number | undefined> {
    this.#sweepNow();
    const known = this.#find(key, name);
    if (known?.made?.index.id !== id || !(await this.#isGood(name, known))) return undefined;
    // Meanwhile another request may have taken another list.
    if (this.#find(key, name) !== known) return undefined;
    this.#touch(key, name, known);
    return this.#age(known.made.made);
  }

  /** An index in an order: itself, or a list of its own beside it. */
  async inOrder(
    key: string,
    index: FilterIndex,
    order: string,
    sort: () => Promise<Uint32Array>,
  ): Promise<Pick<Found, 'index' | 'used'>> {
    if (index.order === order) return { index };
    const find: Find = async () => ({ ids: await sort(), order, openWindow: index.openWindow });
    return this.take({ key, text: JSON.stringify([index.id, order]) }, find);
  }

  /** Drops expired lists, here and in what the processes share. */
  async sweep(): Promise<void> {
    this.#swept = this.#clock.now();
    for (const [key, { entries }] of this.#lists) {
      for (const [name, entry] of entries) if (this.#isExpired(entry)) this.#drop(key, name, entry);
    }
    await this.#shared?.sweepLists(this.#limits.bytes);
  }

  /** Empties the cache and ends its reports. */
  close(): void {
    this.#lists.clear();
    this.#bytes = 0;
    this.#end();
  }

  /** Sweeps when it is time: a busy service must not depend on its timers. */
  #sweepNow(): void {
    const since = this.#clock.now() - this.#swept;
    if (since >= 0 && since < SWEEP_EVERY) return;
    // No request waits for the server's own sweep.
    void this.sweep().catch(() => undefined);
  }

  #age(made: number): number {
    return Math.floor((this.#clock.now() - made) / 1000);
  }

  /** A list must not last longer because a clock was set back. */
  #isExpired({ made }: Entry): boolean {
    if (made === undefined) return false;
    const age = this.#clock.now() - made.made;
    return age < 0 || age >= this.#limits.milliseconds;
  }

  /** Whether an entry is still valid. One that is being made is valid for all requests meanwhile. */
  async #isGood(name: string, entry: Entry): Promise<boolean> {
    if (entry.made === undefined) return true;
    if (this.#isExpired(entry)) return false;
    return this.#shared === undefined || this.#shared.isListCurrent(name, entry.made.index.id);
  }

  async #make(name: string, find: Find, begin?: Begin): Promise<Made> {
    const began = this.#clock.now();
    const shared = this.#limits.milliseconds === 0 ? undefined : this.#shared;
    const kept = begin === undefined ? await shared?.findList(name) : undefined;
    if (kept !== undefined) return { index: kept, made: began - kept.age, state: 'cached' };
    const { milliseconds, bytes } = this.#limits;
    const made = this.#clock.now();
    const index: FilterIndex = { id: randomUUID(), ...(await find()) };
    if (shared === undefined || index.ids.byteLength > bytes) return { index, made, state: 'fresh' };
    // Another process may have been quicker: then its list is the one that counts.
    const age = Math.max(0, this.#clock.now() - made);
    begin?.(index);
    const counts = await shared.keepList(name, index, { age, milliseconds, bytes });
    if (counts.id === index.id) return { index, made, state: 'fresh' };
    return { index: counts, made: this.#clock.now() - counts.age, state: 'cached' };
  }

  #find(key: string, name: string): Entry | undefined {
    return this.#lists.get(key)?.entries.get(name);
  }

  #touch(key: string, name: string, entry: Entry): void {
    const entries = this.#lists.get(key)?.entries;
    entries?.delete(name);
    entries?.set(name, entry);
  }

  #add(key: string, name: string, entry: Entry): void {
    const shelf = this.#lists.get(key) ?? { entries: new Map<string, Entry>(), bytes: 0 };
    this.#lists.set(key, shelf);
    shelf.entries.set(name, entry);
    this.#account(key, name, entry, LIST_OVERHEAD);
  }

  #account(key: string, name: string, entry: Entry, bytes: number): void {
    const shelf = this.#lists.get(key);
    if (shelf?.entries.get(name) !== entry) return;
    entry.bytes += bytes;
    shelf.bytes += bytes;
    this.#bytes += bytes;
    if (entry.bytes > this.#limits.bytes) this.#drop(key, name, entry);
    while (this.#bytes > this.#limits.bytes) this.#makeRoom();
  }

  /** Drops the least recently used list of the key whose lists take the most. */
  #makeRoom(): void {
    let greediest: [string, KeyLists] | undefined;
    for (const each of this.#lists) {
      if (greediest === undefined || each[1].bytes > greediest[1].bytes) greediest = each;
    }
    const [key, shelf] = greediest ?? [];
    const [oldest] = shelf?.entries ?? [];
    if (key === undefined || oldest === undefined) throw new Error('Bytes are counted that no list holds');
    this.#drop(key, ...oldest);
  }

  #drop(key: string, name: string, entry: Entry): void {
    const shelf = this.#lists.get(key);
    if (shelf?.entries.get(name) !== entry) return;
    shelf.entries.delete(name);
    shelf.bytes -= entry.bytes;
    this.#bytes -= entry.bytes;
    if (shelf.entries.size === 0) this.#lists.delete(key);
  }
}

/**
 * A client that left while its list was being made leaves it to the next request, and so does a request that is
 * answered again.
 */
function unlessGone(error: unknown): undefined {
  const isGone = error instanceof PlatError && error.code === 'clientGone';
  if (!isGone && !(error instanceof LookChanged)) throw error;
}

/**
 * The name of a list, of one length for all filters; the part before the dot is the same for all lists of a key. Lists
 * that plat 0.1.0 shares, which are always in key order, have other names.
 */
function nameOf({ key, text }: ListName): string {
  return `${hash('sha256', key, 'base64url').slice(0, 22)}.${hash('sha256', `${key}\n${text}`, 'base64url')}`;
}
