/**
 * Whether the bytes that a store gives can be what plat wrote there. Texts have no checksums and are joined by the
 * engine without being read, so this is the one place, for both engines, where a damaged text is noticed before it leaves.
 */
import { isUtf8 } from 'node:buffer';
import { markedIn } from '../../compile/damaged-records.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import { faultIn } from './json-list.ts';
import { KnownBodies, type SharedBodies } from './known-bodies.ts';

/** A body, or a part of one, as it came. @throws Damage for one that must not be used */
export type BodyCheck = (body: Uint8Array, follows?: boolean) => Uint8Array;

/** Up to this size a body is read through each time: that takes no longer than to know it again. */
const SMALL = 16 * 1024;

/**
 * What an operator's commands read: they are to see what is wrong with a record.
 * @throws Damage for a body that is no UTF-8 or holds a zero byte, as a block of a disk that was lost does
 */
export const mustBeText: BodyCheck = (body) => {
  if (!isUtf8(body) || asBuffer(body).includes(0)) throw new Damage('a text of it is not as it was written');
  return body;
};

/** What a service sends. A body that was read through once is known again by what is in it. */
export class WholeBodies {
  readonly #known: KnownBodies;

  /** @param shared what another thread of the store has made */
  constructor(shared?: SharedBodies) {
    this.#known = new KnownBodies(shared);
  }

  get shared(): SharedBodies {
    return this.#known.shared;
  }

  /**
   * @param follows whether it goes on after a part before, with a comma
   * @throws DamagedRecord for a record that is marked as damaged; Damage for what is no JSON
   */
  readonly mustBeWhole: BodyCheck = (body, follows = false) => {
    const tag = body.length > SMALL ? this.#known.tagOf(body) : undefined;
    // What goes on after a comma is no beginning, so the first byte tells both kinds apart.
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

/** Bytes before a fault in which the record is looked for that it is in. */
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
