/**
 * Delta tokens: a client's position in the sequence of changes, encrypted with the store's secret. A token is valid only for the
 * key that received it and for the options of its link. It reveals nothing to its holder: the numbers of the sequence would show
 * how many changes the key does not see. It must not know what a delta is.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { type FeedPosition, parsePosition, positionText } from '../../store/changes/change-feed.ts';

/** Where a delta continues. */
export interface DeltaPlace {
  readonly position: FeedPosition;
  /**
   * Progress within changes: the next `count` changes, up to `upTo`, have been processed, except for records with keys after
   * `after` that navigate to a changed record.
   */
  readonly rest?: { readonly upTo: FeedPosition; readonly count: number; readonly after: string } | undefined;
}

/** The content of a token. */
export interface DeltaState extends DeltaPlace {
  /** Identifies what the key could see when the walk began. */
  readonly view: string;
  /** The page size that the client preferred, which applies until the end of the delta. */
  readonly pageSize?: number | undefined;
}

/** The secret that encrypts a token, and what the token is bound to. */
export interface DeltaSeal {
  readonly secret: string;
  readonly keyId: string;
  /** The resource and the options that the link retains. */
  readonly query: string;
}

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;

/** Contents are padded to a multiple of this number of characters, because their length would reveal the length of the numbers. */
const FILLED = 64;

const encryptionKey = ({ secret, keyId }: DeltaSeal): Buffer =>
  createHmac('sha256', secret).update(`delta\n${keyId}`).digest();

/** Encrypts a position. The token differs each time, because two equal tokens would reveal that nothing at all was written. */
export function sealDelta(seal: DeltaSeal, { position, rest, view, pageSize }: DeltaState): string {
  const places = [position, ...(rest === undefined ? [] : [rest.upTo])].map(positionText);
  const content = JSON.stringify([view, pageSize ?? 0, rest?.after ?? '', rest?.count ?? 0, ...places]);
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, encryptionKey(seal), nonce).setAAD(Buffer.from(seal.query));
  const length = FILLED * Math.ceil(content.length / FILLED);
  return Buffer.concat([
    nonce,
    cipher.update(content.padEnd(length)),
    cipher.final(),
    cipher.getAuthTag(),
  ]).toString('base64url');
}

/** @returns undefined for a token that `sealDelta` did not make for this key and these options */
export function openDelta(seal: DeltaSeal, token: string): DeltaState | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // Only the canonical base64url form of the bytes is accepted.
  if (bytes.length <= NONCE + TAG || bytes.toString('base64url') !== token) return undefined;
  const decipher = createDecipheriv(CIPHER, encryptionKey(seal), bytes.subarray(0, NONCE), {
    authTagLength: TAG,
  });
  decipher.setAAD(Buffer.from(seal.query)).setAuthTag(bytes.subarray(-TAG));
  let content: string;
  try {
    content = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
  return stateIn(JSON.parse(content));
}

function stateIn(content: unknown): DeltaState | undefined {
  if (!Array.isArray(content)) return undefined;
  const [view, pageSize, after, count, from, to]: unknown[] = content;
  const position = typeof from === 'string' ? parsePosition(from) : undefined;
  const upTo = typeof to === 'string' ? parsePosition(to) : undefined;
  if (typeof view !== 'string' || typeof after !== 'string' || position === undefined) return undefined;
  if (typeof count !== 'number') return undefined;
  return {
    view,
    position,
    rest: upTo && { upTo, count, after },
    pageSize: typeof pageSize === 'number' && pageSize > 0 ? pageSize : undefined,
  };
}
