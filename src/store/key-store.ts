import type { KeyRecord } from '../access/index.ts';

/** What a key did since it was last recorded. */
export interface KeyUse {
  readonly requests: number;
  readonly rows: number;
  readonly bytes: number;
  /** Moment of the last request. */
  readonly lastRequestAt: string | null;
  /** The last update window that was asked for, `from/to`. */
  readonly lastWindow: string | null;
  /** When a walk over all keys last reached its end: whether this vendor purges daily. */
  readonly lastSweepAt: string | null;
}

export const NO_USE: KeyUse = {
  requests: 0,
  rows: 0,
  bytes: 0,
  lastRequestAt: null,
  lastWindow: null,
  lastSweepAt: null,
};

/** Two uses of one key, the later one second. */
export function addUse(before: KeyUse, after: KeyUse): KeyUse {
  return {
    requests: before.requests + after.requests,
    rows: before.rows + after.rows,
    bytes: before.bytes + after.bytes,
    lastRequestAt: after.lastRequestAt ?? before.lastRequestAt,
    lastWindow: after.lastWindow ?? before.lastWindow,
    lastSweepAt: after.lastSweepAt ?? before.lastSweepAt,
  };
}

/** The keys of a store. Tokens are known by their hash alone. */
export interface KeyStore {
  find(tokenHash: string): Promise<KeyRecord | undefined>;
  add(key: KeyRecord, tokenHash: string): Promise<void>;
  list(): Promise<readonly (KeyRecord & { readonly use: KeyUse })[]>;
  /** From `at` on the key is refused. False when there is no such key. */
  revoke(id: string, at: string): Promise<boolean>;
  recordUse(uses: ReadonlyMap<string, KeyUse>): Promise<void>;
}
