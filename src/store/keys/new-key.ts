/** Creates the keys of a store, for the command line and for the console. It must not know which of them calls it. */
import { hashToken, type KeyRecord, makeKeyId, makeToken } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { canonicalTimestamp, timestampFrom } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import type { Store } from '../store.ts';

type NewKey = Pick<KeyRecord, 'name' | 'kind' | 'role' | 'systems' | 'expiresAt'>;

/** The names of the parts of a key where a person enters them: `--system` on a command line, `system` in a form. */
export interface KeyWords {
  readonly system: string;
  readonly expires: string;
}

/** The words that forms and request bodies use. */
const PLAIN_WORDS: KeyWords = { system: 'system', expires: 'Expires' };

/** The maximum number of characters of a name, since names are shown in tables. */
const LONGEST_NAME = 200;
/** Control characters, and marks that change the direction of adjacent text: a name must read as it is stored. */
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * The name of a new key as given.
 * @throws PlatError `usage` for a name that is blank, is too long or contains control characters
 */
export function checkKeyName(name: string): string {
  if (name.trim() === '') throw usageError('The name is blank; it must say whose key this is.');
  const characters = [...name];
  const at = characters.findIndex((each) => CONTROL.test(each));
  if (at >= 0) {
    const code = (characters[at]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw usageError(
      `The name has a control character (U+${code}) at position ${at + 1}; use letters, digits and signs.`,
    );
  }
  if (characters.length <= LONGEST_NAME) return name;
  throw usageError(`The name has ${characters.length} characters; it may have at most ${LONGEST_NAME}.`);
}

/**
 * Creates a key.
 * @returns its record and the token, which is not stored
 * @throws PlatError `usage` for an unknown role, and for a floor plan key without a system
 */
export async function createKey(
  store: Store,
  request: NewKey,
  words = PLAIN_WORDS,
): Promise<{ key: KeyRecord; token: string }> {
  mustBeValidKey(request, await store.model(), words);
  const token = makeToken();
  const createdAt = timestampFrom(Date.now());
  const key = { id: makeKeyId(), ...request, createdAt, revokedAt: null };
  await store.keys.add(key, hashToken(token));
  return { key, token };
}

/**
 * Rejects a blank identifier, for example from a variable that is not set: it would hide every record.
 * @throws PlatError `usage`
 */
export function mustNotBeBlank(systems: readonly string[], word: string): void {
  if (systems.some((each) => each.trim() === '')) throw usageError(`A ${word} is blank.`);
}

/** A role of the store. @throws PlatError `usage` that lists the roles */
export function findRole({ rules }: StoreModel, name: string) {
  const role = rules.roles.get(name);
  if (role !== undefined) return role;
  const known = [...rules.roles.keys()].join(', ');
  throw usageError(`There is no role ${name}; there are ${known}.`);
}

/** @throws PlatError `usage` for an unknown role, a blank system, and for a floor plan key without a system */
export function mustBeValidKey(
  request: Pick<NewKey, 'kind' | 'role' | 'systems'>,
  model: StoreModel,
  words = PLAIN_WORDS,
): void {
  findRole(model, request.role);
  mustNotBeBlank(request.systems, words.system);
  if (request.kind === 'floorplans' && request.systems.length === 0) {
    throw usageError(`A floorplans key needs at least one ${words.system}.`);
  }
}

/**
 * The timestamp from which a key is rejected.
 * @param text a date, or a timestamp with a zone
 * @throws PlatError `usage`
 */
export function parseExpiry(text: string | undefined, { expires } = PLAIN_WORDS): string | null {
  if (text === undefined) return null;
  const timestamp = canonicalTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (timestamp !== undefined) return timestamp;
  throw usageError(`${expires} is ${text}, but takes a date or a timestamp with a zone.`);
}

/** Rejects a key from now on, by the clock with which services validate keys. @returns whether there is such a key */
export async function revokeKey(store: Store, id: string): Promise<boolean> {
  const { now } = await store.horizon();
  return store.keys.revoke(id, timestampFrom(now));
}
