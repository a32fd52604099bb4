/**
 * Reads all rows of a served store, continuously and at a low rate, and reports the damaged ones: reading a page does
 * not reveal that one letter was replaced by another. A record that the scrub has found is not served until it is
 * repaired. It knows neither engines nor HTTP.
 */
import type { DamagedRecords } from '../../compile/damaged-records.ts';
import { PlatError } from '../../errors/index.ts';
import { recordName } from '../../records/record-name.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Store } from '../store.ts';
import { faultPages, isDamage } from './check-store.ts';
import type { RowFaults } from './checks.ts';
import { FOREIGN_SYSTEM } from './consistent-rows.ts';

export interface ScrubLimits {
  /** Hours between the end of a pass and the next one; 0: no passes. */
  readonly hours: number;
  /** Percent of the time of one processor that a pass may use. */
  readonly share: number;
}

export const SCRUB_DEFAULTS: ScrubLimits = { hours: 6, share: 5 };

/** A damaged record, for an operator. */
export interface ScrubFault {
  readonly resource: string;
  /** Absent: a page of the table cannot be read. */
  readonly key?: string;
  readonly what: readonly string[];
}

interface ScrubOptions {
  readonly limits: ScrubLimits;
  readonly sleep: Clock['sleep'];
  /** A monotonic clock in milliseconds. */
  readonly elapsed: () => number;
  /** Damaged records that are remembered; fewer in a test. */
  readonly known?: number;
  /** Called once for each damaged record. */
  readonly onFault: (fault: ScrubFault) => void;
  /** Called when a pass ended before everything was read; the next one starts over. */
  readonly onEnd: (error: unknown) => void;
}

const HOUR = 3_600_000;
/** Milliseconds that one step should take at most, since it may delay requests. */
const STEP = 4;
const MOST_ROWS = 200;
/** The fraction of its share that a pass uses while requests are answered: they come first, but the pass still ends. */
const BUSY_FRACTION = 1 / 4;
/** The share of a pass that a reader waits for, because its request failed on damage that the scrub has not found yet. */
const EXPEDITED_SHARE = 50;
/** The minimum milliseconds between such passes, since a pass may be unable to find the damage that a reader met. */
const EXPEDITE_INTERVAL = HOUR;
/** Damaged records that are remembered. Beyond that, no record of the resource is served until a pass finds fewer. */
const MOST_KNOWN = 1000;
/** Milliseconds after which damaged records are checked again, in case they were repaired; and how many at once. */
const RECHECK_INTERVAL = 10_000;
const AT_ONCE = 50;
const RETRY_DELAY = 60_000;
/** Faults in spite of which a record is served; the next import, refresh or repair handles them. */
const UNNOTICED_FAULTS = new Set(['_hash', '_source', FOREIGN_SYSTEM]);

type Scrubbed = Pick<Store, 'model' | 'rowFaults'>;

export class Scrub {
  readonly #store: Scrubbed;
  readonly #options: ScrubOptions;
  readonly #closing = new AbortController();
  /** Damaged rows, by resource and key. */
  readonly #known = new Map<string, ScrubFault & { readonly key: string }>();
  /** Resources with more damaged rows than are remembered. */
  readonly #crowded = new Set<string>();
  /** Resources that cannot be read completely, and why. */
  readonly #unreadable = new Map<string, string>();
  readonly #most: number;
  #damaged: DamagedRecords | undefined;
  #running: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #looked = Number.NEGATIVE_INFINITY;
  /** Whether a request has been answered since the last step. */
  #isAsked = false;
  /** Starts the next pass early. */
  #next = new AbortController();
  /** Ends the current pause, for readers that wait. */
  #wake = new AbortController();
  /** Whether readers wait for a pass that has not begun yet, and whether they wait for the current one. */
  #isWanted = false;
  #isHurried = false;
  #hurried = Number.NEGATIVE_INFINITY;

  constructor(store: Scrubbed, options: ScrubOptions) {
    this.#store = store;
    this.#options = options;
    this.#most = options.known ?? MOST_KNOWN;
  }

  start(): void {
    if (this.#options.limits.hours > 0) this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#running, this.#looking]);
  }

  /**
   * The known damaged records; undefined if there are none. The list is complete for the part of the store that was
   * read. Every request calls this: it makes the scrub check these records again, and give way to requests.
   */
  damagedRecords(): DamagedRecords | undefined {
    this.#isAsked = true;
    if (this.#damaged !== undefined) void this.#lookAgain();
    return this.#damaged;
  }

  /**
   * Finds a damaged record because of which a statement failed, by a pass that takes more of the processor. Until the record is
   * known, every statement that evaluates it fails.
   */
  expedite(): void {
    if (this.#isWanted || this.#isHurried || this.#options.elapsed() - this.#hurried < EXPEDITE_INTERVAL)
      return;
    this.#isWanted = true;
    this.#next.abort();
    this.#wake.abort();
  }

  /** Describes the damage; undefined if there is none. Records that were repaired in the meantime do not count. */
  async problem(): Promise<string | undefined> {
    await this.#lookAgain();
    const [first] = this.#known.values();
    const [crowded] = this.#crowded;
    const [unreadable] = this.#unreadable.values();
    const all = 'run "plat check" for details';
    if (crowded !== undefined) return `more records of ${crowded} are damaged than are remembered; ${all}`;
    if (first === undefined) return unreadable === undefined ? undefined : `${unreadable}; ${all}`;
    const more = this.#known.size > 1 ? ` (and ${this.#known.size - 1} more)` : '';
    return `${first.resource} ${first.key} is damaged: ${first.what.join(', ')}${more}; ${all}`;
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
      this.#next = new AbortController();
      this.#wake = new AbortController();
      let wait = limits.hours * HOUR;
      try {
        this.#isHurried = this.#isWanted;
        this.#isWanted = false;
        await this.pass();
        if (this.#isHurried) this.#hurried = this.#options.elapsed();
      } catch (error) {
        // A store that is unavailable or busy reports that to its readers; it may be back soon.
        if (error instanceof PlatError) wait = RETRY_DELAY;
        if (!this.#isClosed) onEnd(error);
      }
      this.#isHurried = false;
      await sleep(wait, AbortSignal.any([this.#closing.signal, this.#next.signal]));
    }
  }

  async #readAll(resource: string): Promise<void> {
    if (this.#isClosed) return;
    const { elapsed } = this.#options;
    // Rows of one resource take about the same time each, so the time of one step determines the number of rows of the next.
    let limit = 1;
    let isCrowded = false;
    try {
      let begun = elapsed();
      for await (const page of faultPages(this.#store, resource, () => limit)) {
        const took = elapsed() - begun;
        if (took > STEP) limit = Math.max(1, limit >> 1);
        else if (took * 2 < STEP) limit = Math.min(MOST_ROWS, limit * 2);
        await this.#rest(took);
        for (const fault of page.faults) isCrowded = (await this.#note(resource, fault)) || isCrowded;
        if (this.#isClosed) return;
        begun = elapsed();
      }
    } catch (error) {
      // Nothing is known about the rows after a page that cannot be read; other resources can still be read.
      if (!isDamage(error)) throw error;
      if (!this.#unreadable.has(resource)) this.#options.onFault({ resource, what: [error.message] });
      this.#unreadable.set(resource, `not all of ${resource} can be read`);
      return;
    }
    this.#unreadable.delete(resource);
    if (!isCrowded && this.#crowded.delete(resource)) this.#changed();
  }

  async #rest(took: number): Promise<void> {
    const { sleep, limits } = this.#options;
    const pause = (share: number): number => Math.max(1, took * (100 / share - 1));
    if (this.#isWanted || this.#isHurried) {
      await sleep(pause(Math.max(limits.share, EXPEDITED_SHARE)), this.#closing.signal);
      return;
    }
    const signal = AbortSignal.any([this.#closing.signal, this.#wake.signal]);
    const alone = pause(limits.share);
    this.#isAsked = false;
    await sleep(alone, signal);
    if (this.#isAsked) await sleep(pause(limits.share * BUSY_FRACTION) - alone, signal);
  }

  /**
   * A row counts as damaged if a second check confirms it: the first may have coincided with a change of the model.
   * @returns whether it exceeds what is remembered
   */
  async #note(resource: string, { key, what }: RowFaults): Promise<boolean> {
    const name = recordName({ resource, key });
    if (this.#known.has(name)) return false;
    const still = (await this.#faultsOf(resource, [key])).get(key) ?? [];
    const both = what.filter((each) => still.includes(each) && !UNNOTICED_FAULTS.has(each));
    if (both.length === 0) return false;
    if (this.#known.size < this.#most) {
      const fault = { resource, key, what: both };
      this.#known.set(name, fault);
      this.#options.onFault(fault);
      this.#changed();
      return false;
    }
    if (!this.#crowded.has(resource)) {
      this.#crowded.add(resource);
      this.#options.onFault({
        resource,
        what: [`more than ${this.#most} records are damaged, so none is returned`],
      });
      this.#changed();
    }
    return true;
  }

  /** The faults of rows, by key. */
  async #faultsOf(
    resource: string,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { faults } = await this.#store.rowFaults(resource, { kind: 'keys', keys });
    return new Map(faults.map(({ key, what }) => [key, what]));
  }

  /** Removes repaired records from the list, unless they were checked a moment ago. */
  #lookAgain(): Promise<void> {
    const now = this.#options.elapsed();
    if (this.#looking !== undefined) return this.#looking;
    if (this.#known.size === 0 || now - this.#looked < RECHECK_INTERVAL) return Promise.resolve();
    this.#looked = now;
    this.#looking = this.#forgetMended()
      // A store that is unavailable reports this wherever it is read; the known damage remains recorded.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #forgetMended(): Promise<void> {
    for (const [resource, faults] of Map.groupBy(this.#known.values(), (fault) => fault.resource)) {
      for (let at = 0; at < faults.length && !this.#isClosed; at += AT_ONCE) {
        const some = faults.slice(at, at + AT_ONCE);
        const begun = this.#options.elapsed();
        const still = await this.#faultsOf(
          resource,
          some.map(({ key }) => key),
        );
        for (const { key, what } of some) {
          const isMended = !what.some((each) => still.get(key)?.includes(each));
          if (isMended) this.#known.delete(recordName({ resource, key }));
        }
        if (at + AT_ONCE < faults.length) await this.#rest(this.#options.elapsed() - begun);
      }
    }
    this.#changed();
    // Records beyond the limit may be repaired as well; only a full pass can determine that.
    if (this.#known.size === 0 && this.#crowded.size > 0) this.#next.abort();
  }

  #changed(): void {
    const keys = Map.groupBy(this.#known.values(), ({ resource }) => resource);
    const damaged = new Map<string, readonly string[] | 'all'>(
      [...keys].map(([resource, faults]) => [resource, faults.map(({ key }) => key)]),
    );
    for (const resource of this.#crowded) damaged.set(resource, 'all');
    this.#damaged = damaged.size === 0 ? undefined : damaged;
  }
}
