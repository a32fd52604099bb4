/**
 * Checks whether the keys of event streams are still valid, by one query per key from time to time, however many streams the key
 * has.
 */
import { PlatError } from '../../errors/index.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import type { Store } from '../../store/store.ts';
import type { KeyStatus } from '../exchange.ts';
import type { Surface } from '../surface.ts';
import { authenticate } from './authenticate.ts';

const CACHE_BOUNDS = { entries: 10_000, bytes: 4 * 1024 * 1024 };
/** The size of a cached status in bytes. */
const ENTRY_BYTES = 200;

export class KeyStatusCache {
  readonly #store: Pick<Store, 'look'>;
  readonly #trust: number;
  readonly #kept = new BoundedCache<{ readonly since: number; readonly standing: Promise<KeyStatus> }>(
    'standings of keys',
    CACHE_BOUNDS,
  );

  /** @param trust milliseconds for which a result is valid */
  constructor(store: Pick<Store, 'look'>, trust: number) {
    this.#store = store;
    this.#trust = trust;
  }

  /** @param hash the hash of the key's token */
  statusOf(hash: string, surface: Surface): Promise<KeyStatus> {
    const id = `${surface.name} ${hash}`;
    const now = performance.now();
    const kept = this.#kept.get(id);
    if (kept !== undefined && now - kept.since < this.#trust) return kept.standing;
    const standing = this.#look(hash, surface);
    this.#kept.put(id, { since: now, standing }, ENTRY_BYTES);
    return standing;
  }

  async #look(hash: string, surface: Surface): Promise<KeyStatus> {
    try {
      authenticate(await this.#store.look(hash), surface, () => '');
      return 'stands';
    } catch (error) {
      return error instanceof PlatError && error.status < 500 ? 'ended' : 'unknown';
    }
  }
}
