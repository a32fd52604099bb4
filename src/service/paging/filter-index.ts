/**
 * The filter-index cache (specification 8), which keeps the lists of records that filters found. It must not know what a filter is.
 */
import { hash, randomBytes } from 'node:crypto';
import { isStoreFull, PlatError } from '../../errors/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KeptList, SharedState } from '../../store/shared.ts';
import { LookChanged } from '../../store/store.ts';

/** The records that a filter found at its first request, as ids in the order of that request. */
export type FilterIndex = KeptList;

/** Identifies a list: the key, and a text that is equal for equal filters. */
export interface FilterListName {
  readonly key: string;
  readonly text: string;
}

/** The list that a page was taken from. With it, a later request can check whether it would still use the same list. */
export interface UsedList {
  /** The key that the list belongs to. */
  readonly key: string;
  readonly name: string;
  /** The id of the index that had that name. */
  readonly id: string;
}

interface Found {
  readonly index: FilterIndex;
  readonly state: 'fresh' | 'cached';
  /** Seconds since the list was made. */
  readonly age: number;
  /** Absent if lists are not kept. */
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
  /** Absent while the list is being made. */
  made: Made | undefined;
  bytes: number;
}

/** The lists of one key; the least recently used is the first. */
interface KeyLists {
  readonly entries: Map<string, Entry>;
  bytes: number;
}

interface CacheLimits {
  /** How long a list is kept; 0: lists are not kept. */
  readonly milliseconds: number;
  /** The memory for all lists together, with their overhead. A list that is larger on its own is not kept. */
  readonly bytes: number;
}

type Find = () => Promise<Omit<FilterIndex, 'id'>>;

/** Called with a list that has just been made, before it is known whether this list or that of another process is kept. */
type Begin = (index: FilterIndex) => void;

/**
 * The memory of a list in addition to its record ids: its name, its id, its promise, and the objects and table slots around them.
 * An empty list, and one that is still being built, also uses this much.
 */
export const LIST_OVERHEAD = 700;

/** Milliseconds between two sweeps for expired lists. */
const SWEEP_EVERY = 60_000;

/**
 * Keeps the list of records that a filter found, so that later pages of the same key with the same filter are taken from the same
 * list for ten minutes. If memory runs short, the key whose lists use the most memory loses its least recently used list. If
 * several processes serve a store, all of them use the list in the store, and this cache has a copy of it.
 */
export class FilterIndexCache implements SizedCache {
  readonly #limits: CacheLimits;
  readonly #clock: Clock;
  readonly #shared: SharedState | undefined;
  readonly #lists = new Map<string, KeyLists>();
  readonly #end: () => void;
  #bytes = 0;
  #swept: number;

  constructor(limits: CacheLimits, clock: Clock, shared?: SharedState) {
    this.#limits = limits;
    this.#clock = clock;
    this.#shared = shared;
    this.#swept = clock.now();
    this.#end = registerCache('filter indexes', this);
  }

  get use(): SizedCache['use'] {
    const lists = this.#lists.values().reduce((sum, { entries }) => sum + entries.size, 0);
    return { entries: lists, bytes: this.#bytes };
  }

  /** The memory of the lists of one key. */
  bytesOf(key: string): number {
    return this.#lists.get(key)?.bytes ?? 0;
  }

  /**
   * Returns the list of a filter: the kept one, or a new one.
   * @param find returns the record ids from one snapshot, and their order
   * @param begin passed by a request that is probably the first with its filter: it starts to read the page before it is known
   * whether another process has a list. If another process has one, that list is used instead
   */
  async getOrMake(list: FilterListName, find: Find, begin?: Begin): Promise<Found> {
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
      if (this.#find(list.key, name) !== known) continue; // another request was faster
      if (!isGood) {
        this.#drop(list.key, name, known);
        break;
      }
      this.#touch(list.key, name, known);
      const shared = await known.making.catch(ignoreAbandonment);
      if (shared === undefined) continue;
      const { index, made } = shared;
      return { index, state: 'cached', age: this.#age(made), used: { key: list.key, name, id: index.id } };
    }
    const entry: Entry = { making: this.#make(name, find, begin), made: undefined, bytes: 0 };
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
   * Checks whether a request would currently use this list, and if so, counts the list as used.
   * @returns its age in seconds, or undefined
   */
  async ageOf({ key, name, id }: UsedList): Promise<number | undefined> {
    this.#sweepNow();
    const known = this.#find(key, name);
    if (known?.made?.index.id !== id || !(await this.#isGood(name, known))) return undefined;
    // Another request may have replaced the list in the meantime.
    if (this.#find(key, name) !== known) return undefined;
    this.#touch(key, name, known);
    return this.#age(known.made.made);
  }

  /** The records of a list in another order: the list itself if it has that order, otherwise a copy cached with it. */
  async inOrder(
    key: string,
    index: FilterIndex,
    order: string,
    sort: () => Promise<Uint32Array>,
  ): Promise<Pick<Found, 'index' | 'used'>> {
    if (index.order === order) return { index };
    const find: Find = async () => ({ ids: await sort(), order, openWindow: index.openWindow });
    return this.getOrMake({ key, text: JSON.stringify([index.id, order]) }, find);
  }

  /** Removes expired lists from this cache and from the store. */
  async sweep(): Promise<void> {
    this.#swept = this.#clock.now();
    for (const [key, { entries }] of this.#lists) {
      for (const [name, entry] of entries) if (this.#isExpired(entry)) this.#drop(key, name, entry);
    }
    await this.#shared?.sweepLists(this.#limits.bytes);
  }

  /** Empties the cache and removes it from the metrics. */
  close(): void {
    this.#lists.clear();
    this.#bytes = 0;
    this.#end();
  }

  /** Sweeps if it is due: a busy service cannot rely on its timers. */
  #sweepNow(): void {
    const since = this.#clock.now() - this.#swept;
    if (since >= 0 && since < SWEEP_EVERY) return;
    // Requests do not wait for the sweep in the store.
    void this.sweep().catch(() => undefined);
  }

  #age(made: number): number {
    return Math.floor((this.#clock.now() - made) / 1000);
  }

  /** Whether a list has expired. A clock that was set back must not extend its life. */
  #isExpired({ made }: Entry): boolean {
    if (made === undefined) return false;
    const age = this.#clock.now() - made.made;
    return age < 0 || age >= this.#limits.milliseconds;
  }

  /** Whether an entry is still valid. One that is being made is valid for all requests that arrive in the meantime. */
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
    const { ids, order, openWindow } = await find();
    const index: FilterIndex = { id: newId(), ids, order, openWindow };
    if (shared === undefined || index.ids.byteLength > bytes) return { index, made, state: 'fresh' };
    // If another process has stored a list first, that list is used.
    const age = Math.max(0, this.#clock.now() - made);
    begin?.(index);
    const winner = await shared
      .keepList(name, index, { age, milliseconds, bytes })
      .catch((error: unknown) => {
        // The next page then finds its records again.
        if (isStoreFull(error)) return { ...index, age };
        throw error;
      });
    if (winner.id === index.id) return { index, made, state: 'fresh' };
    return { index: winner, made: this.#clock.now() - winner.age, state: 'cached' };
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
    this.#lists.getOrInsert(key, { entries: new Map(), bytes: 0 }).entries.set(name, entry);
    this.#account(key, name, entry, LIST_OVERHEAD);
  }

  #account(key: string, name: string, entry: Entry, bytes: number): void {
    const keyLists = this.#lists.get(key);
    if (keyLists?.entries.get(name) !== entry) return;
    entry.bytes += bytes;
    keyLists.bytes += bytes;
    this.#bytes += bytes;
    if (entry.bytes > this.#limits.bytes) this.#drop(key, name, entry);
    while (this.#bytes > this.#limits.bytes) this.#makeRoom();
  }

  /** Drops the least recently used list of the key whose lists use the most memory. */
  #makeRoom(): void {
    let greediest: [string, KeyLists] | undefined;
    for (const each of this.#lists) {
      if (greediest === undefined || each[1].bytes > greediest[1].bytes) greediest = each;
    }
    const [key, shelf] = greediest ?? [];
    const [oldest] = shelf?.entries ?? [];
    if (key === undefined || oldest === undefined)
      throw new Error('Bytes are counted for which there is no list');
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
 * Ignores that a client disconnected while its list was being made, or that the request is answered again: the next request makes
 * the list.
 */
function ignoreAbandonment(error: unknown): undefined {
  const isDisconnected = error instanceof PlatError && error.code === 'clientGone';
  if (!isDisconnected && !(error instanceof LookChanged)) throw error;
}

/** A random id. V8 keeps a UUID of Node as the dozen strings from which it was concatenated, which take 400 bytes. */
const newId = (): string => randomBytes(16).toString('base64url');

/**
 * The name of a list. It has the same length for all filters, and the part before the dot is the same for all lists of a key. The
 * names of lists that plat 0.1.0 stores, which are always in key order, have another format.
 */
function nameOf({ key, text }: FilterListName): string {
  return `${hash('sha256', key, 'base64url').slice(0, 22)}.${hash('sha256', `${key}\n${text}`, 'base64url')}`;
}
