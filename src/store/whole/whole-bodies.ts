/**
 * Checks whether bytes that a store returns can be what plat wrote. Texts have no checksums, and engines join them without parsing
 * them, so this is the only place, for both engines, that detects a damaged text before it is sent.
 */
import { isUtf8 } from 'node:buffer';
import { findDamagedRecord } from '../../compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { findSyntaxError } from './json-list.ts';
import { type SharedBodies, ValidatedBodies } from './known-bodies.ts';

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

/**
 * The commas that end parts. The length of a record determines whether it ends a part, so that pages that begin elsewhere have the
 * same parts.
 */
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
