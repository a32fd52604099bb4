import type { Logger } from 'pino';
import { timestampFrom } from '../../dictionary/index.ts';
import { addUse, type KeyUse, NO_USE } from '../../store/key-store.ts';
import type { Store } from '../../store/store.ts';

/** What one request adds to the account of its key. */
export interface RequestUse {
  readonly rows: number;
  readonly bytes: number;
  readonly window?: string | undefined;
  readonly sweep?: boolean | undefined;
}

/** How often accounts are written to the store, in milliseconds. */
const EVERY = 2000;

/** Keeps the account of every key, and writes it to the store now and then. */
export class UsageRecorder {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, KeyUse>();

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), EVERY).unref();
  }

  /** @param now milliseconds since 1970 */
  note(keyId: string, { rows, bytes, window, sweep }: RequestUse, now: number): void {
    const at = timestampFrom(now);
    const use: KeyUse = {
      requests: 1,
      rows,
      bytes,
      lastRequestAt: at,
      lastWindow: window ?? null,
      lastSweepAt: sweep ? at : null,
    };
    this.#pending.set(keyId, addUse(this.#pending.get(keyId) ?? NO_USE, use));
  }

  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const uses = this.#pending;
    this.#pending = new Map();
    try {
      await this.#store.keys.recordUse(uses);
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
