/**
 * Sessions of console users: a cookie represents the token of an admin key, which the browser sends once and never stores. A
 * session ends with its key. Sessions are in the memory of one process, as the admin port belongs to one process.
 */
import { hash, randomBytes } from 'node:crypto';
import { BoundedCache } from '../../shared/bounded-cache.ts';

/** Milliseconds for which a session lasts without a request. */
const IDLE = 12 * 3_600_000;

/** Far more than the operators of a service; a session has about `ENTRY` bytes. */
const CACHE_BOUNDS = { entries: 1000, bytes: 1024 * 1024 };
const ENTRY = 500;

interface Opened {
  readonly tokenHash: string;
  /** Milliseconds since 1970. */
  seen: number;
}

export class ConsoleSessions {
  readonly #opened = new BoundedCache<Opened>('console sessions', CACHE_BOUNDS);

  /**
   * Begins a session of a key.
   * @param now milliseconds since 1970
   * @returns the secret for the cookie; only its hash is kept
   */
  open(tokenHash: string, now: number): string {
    const secret = randomBytes(32).toString('base64url');
    this.#opened.put(hash('sha256', secret), { tokenHash, seen: now }, ENTRY);
    return secret;
  }

  /** The hash of the token that a session represents; undefined if there is no session, or if it was idle for too long. */
  tokenHashOf(secret: string, now: number, isUse: boolean): string | undefined {
    const id = hash('sha256', secret);
    const session = this.#opened.get(id);
    if (session === undefined) return undefined;
    if (now - session.seen > IDLE) {
      this.#opened.delete(id);
      return undefined;
    }
    if (isUse) session.seen = now;
    return session.tokenHash;
  }

  end(secret: string): void {
    this.#opened.delete(hash('sha256', secret));
  }
}
