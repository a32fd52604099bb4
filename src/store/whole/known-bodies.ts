/**
 * Remembers which large bodies were found valid, by a tag of their content: a body with a single different bit is
 * unknown, whichever request it answers. The threads of a store share the tags. It knows no requests.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';

/** The memory that threads share; it is sent to each of them. */
export interface SharedBodies {
  /** In sets of `WAYS`, the most recently used tag first; 0: empty. */
  readonly tags: SharedArrayBuffer;
  /** Makes the tags of this process unpredictable. */
  readonly key: Uint8Array;
}

/** The number of bodies whose tags all threads remember together: 131,072, in 1 MB. */
const SETS = 16_384;
const WAYS = 8;
const KEY_BYTES = 16;
/** Tags never leave this process, so reusing the nonce with one key is harmless. */
const NONCE = new Uint8Array(12);

export class ValidatedBodies implements SizedCache {
  readonly shared: SharedBodies;
  readonly #tags: BigUint64Array;

  /** @param shared from another thread; absent: this instance creates it and reports its memory */
  constructor(shared?: SharedBodies) {
    this.shared = shared ?? {
      tags: new SharedArrayBuffer(SETS * WAYS * BigUint64Array.BYTES_PER_ELEMENT),
      key: randomBytes(KEY_BYTES),
    };
    this.#tags = new BigUint64Array(this.shared.tags);
    if (shared === undefined) registerCache('whole bodies', this);
  }

  get use(): SizedCache['use'] {
    // Counted in halves, which are numbers: making a BigInt of each tag takes fifty times as long.
    const halves = new Uint32Array(this.shared.tags);
    let entries = 0;
    for (let at = 0; at < halves.length; at += 2) if (halves[at] !== 0 || halves[at + 1] !== 0) entries++;
    return { entries, bytes: this.shared.tags.byteLength };
  }

  /**
   * The tag of a body: GMAC, which takes a fifth of the time of a CRC where the processor has instructions for it. Two bodies have
   * the same tag with a probability below 2^-40.
   */
  tagOf(body: Uint8Array): bigint {
    const mac = createCipheriv('aes-128-gcm', this.shared.key, NONCE);
    mac.setAAD(body);
    mac.final();
    // Zero marks an empty place.
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

  /** Replaces the least recently used tag of its set. */
  add(tag: bigint): void {
    const start = startOf(tag);
    this.#moveUp(start, start + WAYS - 1, tag);
  }

  /** A race with another thread may lose a tag; that body is then checked once more. */
  #moveUp(start: number, from: number, tag: bigint): void {
    for (let at = from; at > start; at--) Atomics.store(this.#tags, at, Atomics.load(this.#tags, at - 1));
    Atomics.store(this.#tags, start, tag);
  }
}

/** The index of the set of a tag, by bits other than its last. */
const startOf = (tag: bigint): number => Number((tag >> 1n) % BigInt(SETS)) * WAYS;
