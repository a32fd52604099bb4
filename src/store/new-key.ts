/** Makes the keys of a store, for the command line and for the console. It must not know who asks. */
import { hashToken, type KeyKind, type KeyRecord, makeKeyId, makeToken } from '../access/index.ts';
import { canonicalTimestamp, timestampFrom } from '../dictionary/index.ts';
import { platError } from '../errors/index.ts';
import type { Store } from './store.ts';

interface NewKey {
  readonly name: string;
  readonly kind: KeyKind;
  readonly role: string;
  readonly systems: readonly string[];
  readonly expiresAt: string | null;
}

/**
 * Creates a key.
 * @returns its record and the token, which is not stored
 * @throws PlatError `usage` for a role that there is not, and for a floor plan key without a system
 */
export async function createKey(store: Store, asked: NewKey): Promise<{ key: KeyRecord; token: string }> {
  const { rules } = await store.model();
  if (!rules.roles.has(asked.role)) {
    const known = [...rules.roles.keys()].join(', ');
    throw platError('usage', { reason: `There is no role ${asked.role}; there are ${known}.` });
  }
  if (asked.kind === 'floorplans' && asked.systems.length === 0) {
    throw platError('usage', { reason: 'A floorplans key needs at least one --system.' });
  }
  const token = makeToken();
  const createdAt = timestampFrom(Date.now());
  const key = { id: makeKeyId(), ...asked, createdAt, revokedAt: null };
  await store.keys.add(key, hashToken(token));
  return { key, token };
}

/**
 * The timestamp from which on a key is rejected.
 * @param text a date, or a timestamp with a zone
 * @param now milliseconds since 1970
 * @throws PlatError `usage`
 */
export function expiry(text: string | undefined, now: number): string | null {
  if (text === undefined) return null;
  const timestamp = canonicalTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (timestamp === undefined) {
    throw platError('usage', {
      reason: `--expires is ${text}, but takes a date or a timestamp with a zone.`,
    });
  }
  if (Date.parse(timestamp) <= now) {
    throw platError('usage', {
      reason: `--expires is ${text}, which is in the past: the key would never be valid.`,
    });
  }
  return timestamp;
}

/** Refuses a key from now on, by the clock by which services validate keys. @returns whether there is such a key */
export async function revokeKey(store: Store, id: string): Promise<boolean> {
  const { now } = await store.horizon();
  return store.keys.revoke(id, timestampFrom(now));
}
