/**
 * Which large bodies were found whole, by what is in them: a body of which one bit is another is not known, whatever it
 * is the answer to and since whenever it was. The threads of a store share what they know. It knows nothing of requests.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { type Reported, reportCache } from '../../shared/bounded-cache.ts';

/** What threads have in common: it travels to each of them. */
export interface SharedBodies {
  /** In sets of `WAYS`, the one that was used last first; 0: nothing. */
  readonly tags: SharedArrayBuffer;
  /** Makes the tags of this process its own. */
  readonly key: Uint8Array;
}

/** Bodies of which one thread after the other remembers the tags: 131,072, in 1 MB. */
const SETS = 16_384;
const WAYS = 8;
const KEY_BYTES = 16;
/** Tags stay in this process, so that one key makes many with the same is nothing to anybody. */
const NONCE = new Uint8Array(12);

export class KnownBodies implements Reported {
  readonly shared: SharedBodies;
  readonly #tags: BigUint64Array;

  /** @param shared with other threads; absent: it is the first to have it, and reports it */
  constructor(shared?: SharedBodies) {
    this.shared = shared ?? {
      tags: new SharedArrayBuffer(SETS * WAYS * BigUint64Array.BYTES_PER_ELEMENT),
      key: randomBytes(KEY_BYTES),
    };
    this.#tags = new BigUint64Array(this.shared.tags);
    if (shared === undefined) reportCache('whole bodies', this);
  }

  get use(): Reported['use'] {
    const entries = this.#tags.reduce((sum, tag) => sum + Number(tag !== 0n), 0);
    return { entries, bytes: this.shared.tags.byteLength };
  }

  /**
   * What stands for a body: GMAC, which takes a fifth of the time of a CRC where the processor has instructions for it.
   * That two bodies have the same is less likely than one in 2^40.
   */
  tagOf(body: Uint8Array): bigint {
    const mac = createCipheriv('aes-128-gcm', this.shared.key, NONCE);
    mac.setAAD(body);
    mac.final();
    // Zero says that there is none.
    return mac.getAuthTag().readBigUInt64LE() | 1n;
  }

  has(tag: bigint): boolean {
    const start = startOf(tag);
    for (let at = start; at < start + WAYS; at++) {
      if (Atomics.load(this.#tags, at) !== tag) continue;
      if (at > start) this.#moveUp(start, at, tag);
      return true;
    }
    return false;
  }

  /** The one of its set that was not used for the longest time goes. */
  add(tag: bigint): void {
    const start = startOf(tag);
    this.#moveUp(start, start + WAYS - 1, tag);
  }

  /** Another thread at the same place may lose a tag, which is then found whole once more. */
  #moveUp(start: number, from: number, tag: bigint): void {
    for (let at = from; at > start; at--) Atomics.store(this.#tags, at, Atomics.load(this.#tags, at - 1));
    Atomics.store(this.#tags, start, tag);
  }
}

/** The set of a tag, by bits of it that are not its last. */
const startOf = (tag: bigint): number => Number((tag >> 1n) % BigInt(SETS)) * WAYS;
