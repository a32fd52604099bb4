/** The use of each key: what its requests took, its last window, and its last sweep over all listings. */
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

/** Bytes that a use or a step takes beside its tokens. */
const ENTRY = 400;

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Collects the use of every key, and writes it to the store at intervals. */
export class UsageRecorder implements Reported {
  readonly #keys: Pick<KeyStore, 'recordUse'>;
  readonly #log: Logger;
  readonly #shared: Shared | undefined;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, KeyUse>();
  /** The last step of each key's walk over all listings, where all its pages come to this process. */
  readonly #walks = new Map<string, WalkStep>();

  constructor(keys: Pick<KeyStore, 'recordUse'>, log: Logger, shared?: Shared) {
    this.#keys = keys;
    this.#log = log;
    this.#shared = shared;
    reportCache('accounts of keys', this);
    this.#timer = setInterval(() => void this.flush(), EVERY).unref();
  }

  /** At most one entry of each kind for a key. */
  get use(): Reported['use'] {
    const tokens = this.#walks
      .values()
      .reduce((sum, { from, reached }) => sum + lengthOf([from, ...reached]), 0);
    const entries = this.#pending.size + this.#walks.size;
    return { entries, bytes: entries * ENTRY + tokens };
  }

  /** @param now milliseconds since 1970 */
  async note(keyId: string, { rows, bytes, window, walk }: RequestUse, now: number): Promise<void> {
    const at = timestampFrom(now);
    const ends = walk === undefined ? false : this.#endsSweep(keyId, walk);
    const endsSweep = typeof ends === 'boolean' ? ends : await ends;
    const use: KeyUse = {
      requests: 1,
      rows,
      bytes,
      lastRequestAt: at,
      lastWindow: window ?? null,
      lastSweepAt: endsSweep ? at : null,
    };
    this.#pending.set(keyId, addUse(this.#pending.get(keyId) ?? NO_USE, use));
  }

  /** Whether the step is the last of a walk that began at the start and left nothing out. */
  #endsSweep(keyId: string, step: WalkStep): boolean | Promise<boolean> {
    if (this.#shared !== undefined) {
      return this.#shared.noteSweep(keyId, step).catch((error: unknown) => {
        this.#log.warn({ err: error }, 'a step of a walk over all listings could not be noted');
        return false;
      });
    }
    const before = this.#walks.get(keyId);
    if (step.from !== '' && !before?.reached.includes(step.from)) return false;
    if (step.ended) this.#walks.delete(keyId);
    else this.#walks.set(keyId, step);
    return step.ended;
  }

  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const uses = this.#pending;
    this.#pending = new Map();
    try {
      await this.#keys.recordUse(uses);
    } catch (error) {
      for (const [id, use] of uses) this.#pending.set(id, addUse(use, this.#pending.get(id) ?? NO_USE));
      this.#log.warn({ err: error }, 'the use of keys could not be recorded and will be tried again');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
