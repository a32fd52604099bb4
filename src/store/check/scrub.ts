/**
 * Reads all rows of a store that is served, over and over and at a low pace, and says which of them are damaged: a text
 * whose letters changed in the file is noticed by no read of a large page. It knows nothing of engines and of HTTP.
 */
import { PlatError } from '../../errors/index.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store.ts';
import type { RowFaults, RowPlace } from './row-faults.ts';

export interface ScrubLimits {
  /** Hours between the end of a pass and the next; 0: none is made. */
  readonly hours: number;
  /** Percent of the time that a pass may use a processor. */
  readonly share: number;
}

export const SCRUB_DEFAULTS: ScrubLimits = { hours: 6, share: 5 };

/** A damage, in words for an operator. */
export interface ScrubFault {
  readonly resource: string;
  /** Absent: a page of the table cannot be read. */
  readonly key?: string;
  readonly what: readonly string[];
}

export interface ScrubOptions {
  readonly limits: ScrubLimits;
  readonly sleep: Clock['sleep'];
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  /** Called once for each damage. */
  readonly onFault: (fault: ScrubFault) => void;
  /** Called when a pass ended before everything was read; the next one begins at the start. */
  readonly onEnd: (error: unknown) => void;
}

/** Milliseconds that one step should take at the most, since it may hold up those who ask. */
const STEP = 4;
const MOST_ROWS = 200;
/** Damages that are remembered, and looked at again to see whether they are mended. */
const MOST_KNOWN = 100;
const LOOK_AGAIN = 10_000;
const PATIENCE = 60_000;
const HOUR = 3_600_000;

/** What no reader gets: the next import or refresh looks at it. */
const UNSEEN = new Set(['_hash', '_source']);

type Scrubbed = Pick<Store, 'model' | 'rowFaults'>;

export class Scrub {
  readonly #store: Scrubbed;
  readonly #options: ScrubOptions;
  readonly #closing = new AbortController();
  /** Damaged rows, by resource and key. */
  readonly #known = new Map<string, ScrubFault & { readonly key: string }>();
  readonly #unreadable = new Set<string>();
  #running: Promise<void> | undefined;
  #looked = Number.NEGATIVE_INFINITY;

  constructor(store: Scrubbed, options: ScrubOptions) {
    this.#store = store;
    this.#options = options;
  }

  start(): void {
    if (this.#options.limits.hours > 0) this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** What is damaged as far as it was read; undefined when nothing is. Rows that were mended meanwhile are none. */
  async problem(): Promise<string | undefined> {
    const now = this.#options.elapsed();
    if (this.#known.size > 0 && now - this.#looked >= LOOK_AGAIN) {
      this.#looked = now;
      await this.#lookAgain();
    }
    const [first] = this.#known.values();
    if (first === undefined) return undefined;
    const more = this.#known.size > 1 ? ` (and ${this.#known.size - 1} more)` : '';
    return `${first.resource} ${first.key} is damaged: ${first.what.join(', ')}${more}; "plat check" tells all`;
  }

  /** Reads everything once. */
  async pass(): Promise<void> {
    const { dictionary, stores } = await this.#store.model();
    for (const { name } of dictionary.resources.values()) if (stores(name)) await this.#readAll(name);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { sleep, limits, onEnd } = this.#options;
    while (!this.#isClosed) {
      let wait = limits.hours * HOUR;
      try {
        await this.pass();
      } catch (error) {
        // A store that is away or busy answers its readers so; soon it may not be any more.
        if (error instanceof PlatError) wait = PATIENCE;
        if (!this.#isClosed) onEnd(error);
      }
      await sleep(wait, this.#closing.signal);
    }
  }

  async #readAll(resource: string): Promise<void> {
    const { elapsed } = this.#options;
    // Rows of one resource take as long as each other, about.
    let limit = 1;
    for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
      if (this.#isClosed) return;
      const begun = elapsed();
      try {
        const page = await this.#store.rowFaults(resource, { kind: 'after', place, limit });
        const took = elapsed() - begun;
        place = page.next;
        if (took > STEP) limit = Math.max(1, limit >> 1);
        else if (took * 2 < STEP) limit = Math.min(MOST_ROWS, limit * 2);
        await this.#rest(took);
        for (const fault of page.faults) await this.#note(resource, fault);
      } catch (error) {
        // What lies behind a page that cannot be read is not known; other resources are.
        if (!(error instanceof PlatError) || error.code !== 'storeDamaged') throw error;
        if (!this.#unreadable.has(resource)) this.#options.onFault({ resource, what: [error.message] });
        this.#unreadable.add(resource);
        return;
      }
    }
  }

  #rest(took: number): Promise<void> {
    const { sleep, limits } = this.#options;
    return sleep(Math.max(1, took * (100 / limits.share - 1)), this.#closing.signal);
  }

  /** A row is damaged that is so at a second look: the first may have met a change of what all rows are read by. */
  async #note(resource: string, { key, what }: RowFaults): Promise<void> {
    const name = JSON.stringify([resource, key]);
    if (this.#known.has(name) || this.#known.size >= MOST_KNOWN) return;
    const still = await this.#faultsOf(resource, key);
    const both = what.filter((each) => still.includes(each) && !UNSEEN.has(each));
    if (both.length === 0) return;
    const fault = { resource, key, what: both };
    this.#known.set(name, fault);
    this.#options.onFault(fault);
  }

  async #faultsOf(resource: string, key: string): Promise<readonly string[]> {
    const { faults } = await this.#store.rowFaults(resource, { kind: 'keys', keys: [key] });
    return faults.flatMap(({ what }) => what);
  }

  async #lookAgain(): Promise<void> {
    for (const [name, { resource, key, what }] of this.#known) {
      const still = await this.#faultsOf(resource, key);
      if (!what.some((each) => still.includes(each))) this.#known.delete(name);
    }
  }
}
