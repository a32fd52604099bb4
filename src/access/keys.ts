/** Keys and their tokens: what a store knows about a key, when a key is valid, and how tokens are created and recognized. */
import { hash, randomBytes } from 'node:crypto';

export const KEY_KINDS = ['replication', 'api', 'floorplans', 'admin'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** What the store knows about a key. The token itself is never stored. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly role: string;
  /** The originating systems that the key is restricted to; empty: all. */
  readonly systems: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** Whether a key is valid; if not, why. */
type KeyValidity = { readonly valid: true } | { readonly valid: false; readonly why: 'expired' | 'revoked' };

/** @param now milliseconds since 1970 */
export function keyValidity(key: KeyRecord, now: number): KeyValidity {
  if (key.revokedAt !== null && Date.parse(key.revokedAt) <= now) return { valid: false, why: 'revoked' };
  if (key.expiresAt !== null && Date.parse(key.expiresAt) <= now) return { valid: false, why: 'expired' };
  return { valid: true };
}

const TOKEN_PREFIX = 'plat_';

/** A new token: 256 random bits. Shown once, at creation. */
export const makeToken = (): string => TOKEN_PREFIX + randomBytes(32).toString('base64url');

const WITH_TOKEN = new RegExp(`(?:^|[^\\w-])${TOKEN_PREFIX}[\\w-]{43}(?![\\w-])`);

/** Whether a text contains something in the form of a token that `makeToken` creates. */
export const looksLikeToken = (text: string): boolean => WITH_TOKEN.test(text);

/** Replaces everything in the form of a token, also inside of a path or a query, for a log. */
export const withoutTokens = (text: string): string =>
  text.replace(new RegExp(`${TOKEN_PREFIX}[\\w-]{43}`, 'g'), '[hidden]');

/** A short public name of a key, for lists and logs. */
export const makeKeyId = (): string => `k_${randomBytes(6).toString('hex')}`;

/** The hash of a token, which the store keeps instead of it. 256 random bits need no salt and no slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}
