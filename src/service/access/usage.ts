/** Records the usage of each key: the cost of its requests, its last window, and its last walk over all listings. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { timestampFrom } from '../../dictionary/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { settlesWithin } from '../../shared/settles-within.ts';
import { addUse, type KeyStore, type KeyUse, NO_USE } from '../../store/keys/key-store.ts';
import type { SharedState, WalkStep } from '../../store/shared.ts';

/** What one request adds to the usage of its key. */
export interface RequestUse {
  readonly rows: number;
  readonly bytes: number;
  readonly window?: string | undefined;
  readonly walk?: WalkStep | undefined;
}

/** How often usage is written to the store, in milliseconds. */
const FLUSH_INTERVAL = 2000;

/**
 * The delays, in milliseconds, after which recording a step is tried again because the preceding step is unknown: another process
 * may still be recording that step, and may itself be waiting for an earlier one.
 */
const AGAIN = [50, 250, 500];

/** How long the steps of walks may delay the writing of usage, in milliseconds: a step with all of its attempts. */
const LONGEST_WAIT = 1000;

/** The maximum number of waiting steps of a key. A walk with a step that does not fit is not recorded as a sweep. */
const MOST_WAITING = 32;

/** The size in bytes of a usage record, or of a step without its tokens. */
const ENTRY = 400;

/** Usage that has yet to be recorded, with times in milliseconds since 1970. */
type PendingUse = { -readonly [Name in keyof KeyUse]: KeyUse<number>[Name] };

/** A step that has yet to be recorded, and when its last page was requested. */
type WaitingStep = { -readonly [Name in keyof WalkStep]: WalkStep[Name] } & { now: number };

const momentOf = (at: number | null): string | null => (at === null ? null : timestampFrom(at));

const recorded = (use: PendingUse): KeyUse => ({
  ...use,
  lastRequestAt: momentOf(use.lastRequestAt),
  lastSweepAt: momentOf(use.lastSweepAt),
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Collects the usage of every key, and writes it to the store at intervals. */
export class UsageRecorder implements SizedCache {
  readonly #keys: Pick<KeyStore, 'recordUse'>;
  readonly #log: Logger;
  readonly #shared: SharedState | undefined;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, PendingUse>();
  /** The last step of each key's walk over all listings, if this process has answered all of its pages. */
  readonly #walks = new Map<string, WalkStep>();
  /**
   * For each key, the last step of a walk whose preceding steps are unknown, so that further steps of that walk do not wait for
   * another process.
   */
  readonly #astray = new Map<string, WalkStep>();
  /** The steps of each key that are being recorded in the store for all processes. */
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

  /** Adds bytes that were sent after the request had been counted. */
  addSentBytes(keyId: string, bytes: number): void {
    this.#useOf(keyId).bytes += bytes;
  }

  /** The pending usage of a key. */
  #useOf(keyId: string): PendingUse {
    return this.#pending.getOrInsertComputed(keyId, () => ({ ...NO_USE }));
  }

  /**
   * Records a step in the store for all processes. No response waits for this. The steps of a key are recorded one after another; a
   * step that continues a waiting one is merged into it.
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

  /** @returns whether the step completes a walk without gaps */
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

  /** Whether the step is the last one of a walk that began at the start and has no gaps. */
  #endsSweep(keyId: string, step: WalkStep): boolean {
    const before = this.#walks.get(keyId);
    if (step.from !== '' && !before?.reached.includes(step.from)) return false;
    if (step.ended) this.#walks.delete(keyId);
    else this.#walks.set(keyId, step);
    return step.ended;
  }

  /**
   * Writes the usage to the store, with the walks whose steps have been recorded. A key that requests pages at random has many steps
   * that wait for a predecessor: neither the usage of other keys nor the operator who requests it waits for them.
   */
  async flush(): Promise<void> {
    await settlesWithin(LONGEST_WAIT, this.#recordSteps());
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
    await this.#recordSteps();
    await this.flush();
  }

  async #recordSteps(): Promise<void> {
    await Promise.all([...this.#sharing.values()].map(({ done }) => done));
  }
}
