/**
 * Checks whether bytes that a store returns can be what plat wrote. Texts have no checksums, and engines join them without parsing
 * them, so this is the only place, for both engines, that detects a damaged text before it is sent.
 */
import { isUtf8 } from 'node:buffer';
import { createCipheriv, randomBytes } from 'node:crypto';
import { findDamagedRecord } from '../../compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { findSyntaxError } from './json-list.ts';

/**
 * Checks a body.
 * @param commas returns the positions of commas, in order, at which the body may be checked in parts. None of them is trusted:
 * parts that are valid on their own make a valid body, wherever it was divided
 * @throws Damage for a body that must not be used
 */
export type BodyCheck = (body: Uint8Array, commas?: () => readonly number[]) => Uint8Array;

/** Up to this size, a body is checked each time, which takes no longer than computing its tag. */
const SMALL = 16 * 1024;

/**
 * For operators' commands, which must see what is wrong with a record.
 * @throws Damage for a body that is not UTF-8 or contains a zero byte, as a lost disk block does
 */
export const mustBeText: BodyCheck = (body) => {
  if (!isText(body)) throw new Damage('one of its texts no longer matches what was written');
  return body;
};

const isText = (body: Uint8Array): boolean => isUtf8(body) && !asBuffer(body).includes(0);

/**
 * On average, one in this many records ends a part. If a page begins or ends elsewhere than an earlier one, only two of its parts
 * are unknown.
 */
const RECORDS_PER_PART = 16;

/**
 * For bodies that a service sends. A large body that was checked once is recognized by its tag, or by those of its parts:
 * a page may contain records of other pages.
 */
export class BodyValidator {
  readonly #known: ValidatedBodies;

  /** @param shared from another thread of the store */
  constructor(shared?: SharedBodies) {
    this.#known = new ValidatedBodies(shared);
  }

  get shared(): SharedBodies {
    return this.#known.shared;
  }

  /** @throws DamagedRecord for a record that is marked as damaged; Damage for a body that is not JSON */
  readonly mustBeValid: BodyCheck = (body, commas = () => []) => {
    const isLarge = body.length > SMALL;
    if (isLarge && this.#isWholeInParts(body, partEnds(commas()))) return body;
    const tag = isLarge ? this.#known.tagOf(body) : undefined;
    if (tag !== undefined && this.#isKnown(tag, body, false)) return body;
    mustBeText(body);
    const fault = findSyntaxError(body);
    if (fault !== undefined) throw damageAt(body, fault);
    if (tag !== undefined) this.#known.add(tag);
    return body;
  };

  /** Also false for a body that was divided inside a record. */
  #isWholeInParts(body: Uint8Array, ends: readonly number[]): boolean {
    if (ends.length === 0) return false;
    return [...ends, body.length].every((end, index) => {
      const start = ends[index - 1] ?? 0;
      return this.#isWholePart(body.subarray(start, end), start > 0);
    });
  }

  #isWholePart(part: Uint8Array, goesOn: boolean): boolean {
    const tag = this.#known.tagOf(part);
    if (this.#isKnown(tag, part, goesOn)) return true;
    if (!isText(part) || findSyntaxError(part, goesOn) !== undefined) return false;
    this.#known.add(tag);
    return true;
  }

  /** Only a continuation begins with a comma, so the first byte distinguishes it from a beginning. */
  #isKnown(tag: bigint, body: Uint8Array, goesOn: boolean): boolean {
    return this.#known.has(tag) && goesOn === startsWithComma(body);
  }
}

/** The commas that end parts, found by the lengths of records, so that pages with other beginnings share parts. */
const partEnds = (commas: readonly number[]): readonly number[] =>
  commas.filter((at, index) => (at - (commas[index - 1] ?? -1)) % RECORDS_PER_PART === 0);

const startsWithComma = (body: Uint8Array): boolean => body[0] === 0x2c;

const asBuffer = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** How many bytes before a fault are searched for the record that contains it. */
const SEARCHED_BEFORE_FAULT = 256 * 1024;
const KEY = /\{"(\w*(?:Key|Id))":"([^"\\]{1,255})"/g;

function damageAt(body: Uint8Array, fault: number): Damage | DamagedRecord {
  const bytes = asBuffer(body);
  const record = findDamagedRecord(bytes);
  if (record !== undefined) return new DamagedRecord(record);
  const before = bytes.toString('utf8', Math.max(0, fault - SEARCHED_BEFORE_FAULT), fault);
  const [, name, key] = [...before.matchAll(KEY)].at(-1) ?? [];
  const where = name === undefined ? '' : `, in or after the record whose ${name} is ${key}`;
  return new Damage(`one of its texts is not valid JSON${where}`);
}

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

/** Which large bodies were found valid, by a tag of their content. The threads of a store share the tags. */
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
