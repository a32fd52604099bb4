/** The use of each key: the cost of its requests, its last window, and its last sweep over all listings. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { timestampFrom } from '../../dictionary/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { addUse, type KeyStore, type KeyUse, NO_USE } from '../../store/keys/key-store.ts';
import type { SharedState } from '../../store/shared.ts';
import type { WalkStep } from '../exchange.ts';

/** What one request adds to the use of its key. */
export interface RequestUse {
  readonly rows: number;
  readonly bytes: number;
  readonly window?: string | undefined;
  readonly walk?: WalkStep | undefined;
}

/** How often uses are written to the store, in milliseconds. */
const FLUSH_INTERVAL = 2000;

/**
 * The delays, in milliseconds, after which a step is recorded again because its predecessor is unknown: another process may still be
 * recording that one, and may itself be waiting for an earlier step.
 */
const AGAIN = [50, 250, 500];

/** How many steps of a key may wait; a walk of which one cannot is not recorded as a sweep. */
const MOST_WAITING = 32;

/** The size in bytes of a use or a step without its tokens. */
const ENTRY = 400;

/** A use that will be recorded, with moments in milliseconds since 1970. */
type PendingUse = { -readonly [Name in keyof KeyUse]: KeyUse<number>[Name] };

/** A step that will be recorded, and when its last page was requested. */
type WaitingStep = { -readonly [Name in keyof WalkStep]: WalkStep[Name] } & { now: number };

const momentOf = (at: number | null): string | null => (at === null ? null : timestampFrom(at));

const recorded = (use: PendingUse): KeyUse => ({
  ...use,
  lastRequestAt: momentOf(use.lastRequestAt),
  lastSweepAt: momentOf(use.lastSweepAt),
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Collects the use of every key, and writes it to the store at intervals. */
export class UsageRecorder implements SizedCache {
  readonly #keys: Pick<KeyStore, 'recordUse'>;
  readonly #log: Logger;
  readonly #shared: SharedState | undefined;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, PendingUse>();
  /** The last step of each key's walk over all listings, if all its pages are requested from this process. */
  readonly #walks = new Map<string, WalkStep>();
  /**
   * The last step of each key's walk that does not continue from a known one, so that no further step of it waits for
   * another process.
   */
  readonly #astray = new Map<string, WalkStep>();
  /** The steps of each key that are being recorded where all processes find them. */
  readonly #sharing = new Map<string, { readonly waiting: WaitingStep[]; done: Promise<void> }>();
  readonly #closing = new AbortController();
  /** Whether the last attempt to record failed, which is logged only the first time. */
  #isFailing = false;

  constructor(keys: Pick<KeyStore, 'recordUse'>, log: Logger, shared?: SharedState) {
    this.#keys = keys;
    this.#log = log;
    this.#shared = shared;
    registerCache('accounts of keys', this);
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL).unref();
  }

  get use(): SizedCache['use'] {
    const waiting = [...this.#sharing.values()].flatMap((steps) => steps.waiting);
    const steps = [...this.#walks.values(), ...this.#astray.values(), ...waiting];
    const tokens = steps.reduce((sum, { from, reached }) => sum + lengthOf([from, ...reached]), 0);
    const entries = this.#pending.size + steps.length;
    return { entries, bytes: entries * ENTRY + tokens };
  }

  /** @param now milliseconds since 1970 */
  addRequest(keyId: string, { rows, bytes, window, walk }: RequestUse, now: number): void {
    const use = this.#useOf(keyId);
    use.requests++;
    use.rows += rows;
    use.bytes += bytes;
    use.lastRequestAt = now;
    use.lastWindow = window ?? use.lastWindow;
    if (walk === undefined) return;
    if (this.#shared !== undefined) this.#share(this.#shared, keyId, walk, now);
    else if (this.#endsSweep(keyId, walk)) use.lastSweepAt = now;
  }

  /** Adds what was sent after a request had been noted. */
  addSentBytes(keyId: string, bytes: number): void {
    this.#useOf(keyId).bytes += bytes;
  }

  /** The use of a key that will be recorded next. */
  #useOf(keyId: string): PendingUse {
    return this.#pending.getOrInsertComputed(keyId, () => ({ ...NO_USE }));
  }

  /**
   * Records a step where every process finds it. No response waits for that. The steps of a key are recorded one after
   * another; one that continues a waiting step becomes part of it.
   */
  #share(shared: SharedState, keyId: string, step: WalkStep, now: number): void {
    const steps = this.#sharing.getOrInsertComputed(keyId, () => ({ waiting: [], done: Promise.resolve() }));
    const before = steps.waiting.find(({ reached, ended }) => !ended && reached.includes(step.from));
    if (before !== undefined) {
      Object.assign(before, { reached: step.reached, ended: step.ended, now });
      return;
    }
    if (steps.waiting.length === MOST_WAITING) {
      if (!step.ended) this.#astray.set(keyId, step);
      return;
    }
    steps.waiting.push({ ...step, now });
    const done = steps.done.then(() => this.#shareNext(shared, keyId, steps.waiting));
    steps.done = done.finally(() => {
      if (steps.waiting.length === 0) this.#sharing.delete(keyId);
    });
  }

  async #shareNext(shared: SharedState, keyId: string, waiting: WaitingStep[]): Promise<void> {
    const step = waiting.shift();
    if (step === undefined) return;
    try {
      if (await this.#noteStep(shared, keyId, step)) this.#useOf(keyId).lastSweepAt = step.now;
    } catch (error) {
      this.#log.warn({ err: error }, 'a step of a walk over all listings could not be recorded');
    }
  }

  /** @returns whether the step completes a walk that skipped nothing */
  async #noteStep(shared: SharedState, keyId: string, step: WalkStep): Promise<boolean> {
    const goesOnAstray = this.#astray.get(keyId)?.reached.includes(step.from) === true;
    this.#astray.delete(keyId);
    let noted = await shared.noteSweep(keyId, step);
    for (const pause of goesOnAstray ? [] : AGAIN) {
      if (noted !== 'unknown' || this.#closing.signal.aborted) break;
      await setTimeout(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      noted = await shared.noteSweep(keyId, step);
    }
    if (noted === 'unknown' && !step.ended) this.#astray.set(keyId, step);
    return noted === 'complete';
  }

  /** Whether the step is the last of a walk that began at the start and skipped nothing. */
  #endsSweep(keyId: string, step: WalkStep): boolean {
    const before = this.#walks.get(keyId);
    if (step.from !== '' && !before?.reached.includes(step.from)) return false;
    if (step.ended) this.#walks.delete(keyId);
    else this.#walks.set(keyId, step);
    return step.ended;
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#sharing.values()].map(({ done }) => done));
    if (this.#pending.size === 0) return;
    const uses = this.#pending;
    this.#pending = new Map();
    try {
      await this.#keys.recordUse(new Map([...uses].map(([id, use]) => [id, recorded(use)])));
      this.#isFailing = false;
    } catch (error) {
      for (const [id, use] of uses) this.#pending.set(id, addUse(use, this.#pending.get(id) ?? NO_USE));
      if (!this.#isFailing)
        this.#log.warn({ err: error }, 'the use of keys could not be recorded; trying again until it can');
      this.#isFailing = true;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.flush();
  }
}
