/** The use of each key: the cost of its requests, its last window, and its last sweep over all listings. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { timestampFrom } from '../../dictionary/index.ts';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';
import { addUse, type KeyStore, type KeyUse, NO_USE } from '../../store/key-store.ts';
import type { Shared } from '../../store/shared.ts';
import type { WalkStep } from '../exchange.ts';

/** What one request adds to the use of its key. */
export interface RequestUse {
  readonly rows: number;
  readonly bytes: number;
  readonly window?: string | undefined;
  readonly walk?: WalkStep | undefined;
}

/** How often uses are written to the store, in milliseconds. */
const EVERY = 2000;

/** Milliseconds after which a step is recorded again if another process may still be recording its predecessor. */
const AGAIN = [50, 250];

/** The size in bytes of a use or a step without its tokens. */
const ENTRY = 400;

/** A use that will be recorded, with moments in milliseconds since 1970. */
type PendingUse = { -readonly [Name in keyof KeyUse]: KeyUse<number>[Name] };

const momentOf = (at: number | null): string | null => (at === null ? null : timestampFrom(at));

const recorded = (use: PendingUse): KeyUse => ({
  ...use,
  lastRequestAt: momentOf(use.lastRequestAt),
  lastSweepAt: momentOf(use.lastSweepAt),
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Collects the use of every key, and writes it to the store at intervals. */
export class UsageRecorder implements Reported {
  readonly #keys: Pick<KeyStore, 'recordUse'>;
  readonly #log: Logger;
  readonly #shared: Shared | undefined;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, PendingUse>();
  /** The last step of each key's walk over all listings, if all its pages are requested from this process. */
  readonly #walks = new Map<string, WalkStep>();
  /**
   * The last step of each key's walk that does not continue from a known one, so that no further step of it is
   * recorded.
   */
  readonly #astray = new Map<string, WalkStep>();
  /** The latest step of each key that is being recorded where all processes find it. */
  readonly #sharing = new Map<string, Promise<void>>();

  constructor(keys: Pick<KeyStore, 'recordUse'>, log: Logger, shared?: Shared) {
    this.#keys = keys;
    this.#log = log;
    this.#shared = shared;
    reportCache('accounts of keys', this);
    this.#timer = setInterval(() => void this.flush(), EVERY).unref();
  }

  /** At most one entry of each kind for a key. */
  get use(): Reported['use'] {
    const steps = [...this.#walks.values(), ...this.#astray.values()];
    const tokens = steps.reduce((sum, { from, reached }) => sum + lengthOf([from, ...reached]), 0);
    const entries = this.#pending.size + steps.length;
    return { entries, bytes: entries * ENTRY + tokens };
  }

  /** @param now milliseconds since 1970 */
  note(keyId: string, { rows, bytes, window, walk }: RequestUse, now: number): void {
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
  sent(keyId: string, bytes: number): void {
    this.#useOf(keyId).bytes += bytes;
  }

  /** The use of a key that will be recorded next. */
  #useOf(keyId: string): PendingUse {
    return this.#pending.getOrInsertComputed(keyId, () => ({ ...NO_USE }));
  }

  /**
   * Records a step where every process finds it. No response waits for that, and the steps of a key keep their order.
   */
  #share(shared: Shared, keyId: string, step: WalkStep, now: number): void {
    const before = this.#sharing.get(keyId) ?? Promise.resolve();
    const sharing = before
      .then(() => this.#noteStep(shared, keyId, step))
      .then(
        (isComplete) => {
          if (isComplete) this.#useOf(keyId).lastSweepAt = now;
        },
        (error: unknown) =>
          this.#log.warn({ err: error }, 'a step of a walk over all listings could not be recorded'),
      )
      .finally(() => {
        if (this.#sharing.get(keyId) === sharing) this.#sharing.delete(keyId);
      });
    this.#sharing.set(keyId, sharing);
  }

  /** @returns whether the step completes a walk that skipped nothing */
  async #noteStep(shared: Shared, keyId: string, step: WalkStep): Promise<boolean> {
    const goesOnAstray = this.#astray.get(keyId)?.reached.includes(step.from) === true;
    this.#astray.delete(keyId);
    let noted = goesOnAstray ? 'unknown' : await shared.noteSweep(keyId, step);
    for (const pause of goesOnAstray ? [] : AGAIN) {
      if (noted !== 'unknown') break;
      await setTimeout(pause);
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
    await Promise.all(this.#sharing.values());
    if (this.#pending.size === 0) return;
    const uses = this.#pending;
    this.#pending = new Map();
    try {
      await this.#keys.recordUse(new Map([...uses].map(([id, use]) => [id, recorded(use)])));
    } catch (error) {
      for (const [id, use] of uses) this.#pending.set(id, addUse(use, this.#pending.get(id) ?? NO_USE));
      this.#log.warn({ err: error }, 'the use of keys could not be recorded; trying again later');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
