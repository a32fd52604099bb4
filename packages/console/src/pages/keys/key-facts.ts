/** The keys as the service lists them (GET /keys), and conclusions from that. */

import { searchWords } from '../../parts/words.ts';

export const KINDS = {
  api: 'Reads listings for a website or an app',
  replication: 'Copies the whole feed into another database',
  floorplans: 'Reads the floor plans of its systems',
  admin: 'Opens this console and the admin port',
} as const;

export type Kind = keyof typeof KINDS;

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly kind: Kind;
  readonly role: string;
  /** Empty: all. */
  readonly systems: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly use: {
    readonly requests: number;
    readonly rows: number;
    readonly bytes: number;
    readonly lastRequestAt: string | null;
    /** `from/to` */
    readonly lastWindow: string | null;
    readonly lastSweepAt: string | null;
  };
  readonly lastDay: {
    readonly requests: number;
    readonly rows: number;
    readonly bytes: number;
    /** Requests that were refused because of the rate limit; they are not included in the other numbers. */
    readonly limited: number;
    /** The number of requests in the busiest window of the limit. */
    readonly busiest: number;
  };
}

export interface Limit {
  readonly requests: number;
  readonly seconds: number;
}

export interface AllKeys {
  readonly keys: readonly Key[];
  readonly limits: Readonly<Record<Kind, Limit>>;
}

export type KeyState = 'valid' | 'expired' | 'revoked';

export function stateOf({ revokedAt, expiresAt }: Key, now = Date.now()): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid';
}

/** A vendor that purges daily completes a sweep of all listings about once a day. */
const PURGES_DAILY = 30 * 3_600_000;

export type Sweep = 'daily' | 'late' | 'never' | 'none';

/** Whether the holder of a key purges daily, according to its sweeps of all listings; `none`: it need not. */
export function sweepOf({ kind, use }: Key, now = Date.now()): Sweep {
  if (kind !== 'replication') return 'none';
  if (use.lastSweepAt === null) return use.lastRequestAt === null ? 'none' : 'never';
  return now - Date.parse(use.lastSweepAt) <= PURGES_DAILY ? 'daily' : 'late';
}

/** The maximum length of a name in a list. */
const SHOWN = 80;

/** A name in a list. A store may contain longer names, and names with control characters, from before names were validated. */
export function shownName({ name }: Pick<Key, 'name'>): string {
  const characters = [...name.replaceAll(/\p{Cc}/gu, '\ufffd')];
  return characters.length <= SHOWN ? characters.join('') : `${characters.slice(0, SHOWN).join('')}…`;
}

/** Whether every word of a search occurs in what the list shows of a key. */
export function isFound({ name, id, kind, role, systems }: Key, search: string): boolean {
  const text = [name, id, kind, role, ...systems].join(' ').toLowerCase();
  return searchWords(search).every((word) => text.includes(word));
}
