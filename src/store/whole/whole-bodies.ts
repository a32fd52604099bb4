/**
 * Whether the bytes that a store returns can be what plat wrote. Texts have no checksums, and engines join them without
 * reading them, so this is the one place, for both engines, that detects a damaged text before it is sent.
 */
import { isUtf8 } from 'node:buffer';
import { markedIn } from '../../compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { faultIn } from './json-list.ts';
import { KnownBodies, type SharedBodies } from './known-bodies.ts';

/** Checks a body, or a part of one. @throws Damage for one that must not be used */
export type BodyCheck = (body: Uint8Array, follows?: boolean) => Uint8Array;

/** Up to this size a body is checked each time, which takes no longer than computing its tag. */
const SMALL = 16 * 1024;

/**
 * For operators' commands, which must see what is wrong with a record.
 * @throws Damage for a body that is not UTF-8 or contains a zero byte, as a lost disk block does
 */
export const mustBeText: BodyCheck = (body) => {
  if (!isUtf8(body) || asBuffer(body).includes(0)) throw new Damage('a text of it is not as it was written');
  return body;
};

/** For what a service sends. A large body that was checked once is recognized by its tag. */
export class WholeBodies {
  readonly #known: KnownBodies;

  /** @param shared from another thread of the store */
  constructor(shared?: SharedBodies) {
    this.#known = new KnownBodies(shared);
  }

  get shared(): SharedBodies {
    return this.#known.shared;
  }

  /**
   * @param follows whether it continues an earlier part, with a comma
   * @throws DamagedRecord for a record that is marked as damaged; Damage for a body that is not JSON
   */
  readonly mustBeWhole: BodyCheck = (body, follows = false) => {
    const tag = body.length > SMALL ? this.#known.tagOf(body) : undefined;
    // Only a continuation begins with a comma, so the first byte distinguishes the two kinds.
    if (tag !== undefined && this.#known.has(tag) && follows === startsWithComma(body)) return body;
    mustBeText(body);
    const fault = faultIn(body, follows);
    if (fault !== undefined) throw damageAt(body, fault);
    if (tag !== undefined) this.#known.add(tag);
    return body;
  };
}

const startsWithComma = (body: Uint8Array): boolean => body[0] === 0x2c;

const asBuffer = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** How many bytes before a fault are searched for the record that contains it. */
const LOOKED_THROUGH = 256 * 1024;
const KEY = /\{"(\w*(?:Key|Id))":"([^"\\]{1,255})"/g;

function damageAt(body: Uint8Array, fault: number): Damage | DamagedRecord {
  const bytes = asBuffer(body);
  const record = markedIn(bytes);
  if (record !== undefined) return new DamagedRecord(record);
  const before = bytes.toString('utf8', Math.max(0, fault - LOOKED_THROUGH), fault);
  const [, name, key] = [...before.matchAll(KEY)].at(-1) ?? [];
  const where = name === undefined ? '' : `, in or after the record whose ${name} is ${key}`;
  return new Damage(`a text of it is no JSON any more${where}`);
}
