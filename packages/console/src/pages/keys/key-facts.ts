/** What the service says of its keys (GET /keys), and what that means. */

import { searchWords } from '../../parts/words.ts';

export const KINDS = {
  api: 'Asks for listings, for a website or an app',
  replication: 'Copies the whole feed into a database of its own',
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
    /** Requests that were refused, since there were too many; they are not among the others. */
    readonly limited: number;
    /** Requests in the busiest window of the limit. */
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

/** A vendor that purges daily ends a sweep over all listings about once a day. */
const PURGES_DAILY = 30 * 3_600_000;

export type Sweep = 'daily' | 'late' | 'never' | 'none';

/** Whether the holder of a key purges daily, as its sweeps over all listings show; `none`: it need not. */
export function sweepOf({ kind, use }: Key, now = Date.now()): Sweep {
  if (kind !== 'replication') return 'none';
  if (use.lastSweepAt === null) return use.lastRequestAt === null ? 'none' : 'never';
  return now - Date.parse(use.lastSweepAt) <= PURGES_DAILY ? 'daily' : 'late';
}

/** Characters of a name that a list shows. */
const SHOWN = 80;

/** A name as a list shows it: a store may have longer ones, and some with controls, from before names were checked. */
export function shownName({ name }: Pick<Key, 'name'>): string {
  const characters = [...name.replaceAll(/\p{Cc}/gu, '\ufffd')];
  return characters.length <= SHOWN ? characters.join('') : `${characters.slice(0, SHOWN).join('')}…`;
}

/** Whether every word of a search is somewhere in what the list shows of a key. */
export function isFound({ name, id, kind, role, systems }: Key, search: string): boolean {
  const text = [name, id, kind, role, ...systems].join(' ').toLowerCase();
  return searchWords(search).every((word) => text.includes(word));
}
