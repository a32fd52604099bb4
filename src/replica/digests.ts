import { hash } from 'node:crypto';

const BEGINNING = 64;
/** Of the places in the table, at the most so many are taken. */
const FULL = 0.5;

/**
 * Remembers texts by 64 bits of their digests, in 16 to 32 bytes each: those of a walk of a million pages take less than
 * 32 MB. Two texts are taken for one with a chance of one in millions for as many.
 */
export class Digests {
  #table = new BigUint64Array(BEGINNING);
  #count = 0;

  /** @returns whether the text is new */
  add(text: string): boolean {
    const digest = hash('sha256', text, 'buffer').readBigUInt64LE();
    if (!put(this.#table, digest)) return false;
    this.#count++;
    if (this.#count > this.#table.length * FULL) this.#grow();
    return true;
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#table.length * 2);
    for (const digest of this.#table) if (digest !== FREE) put(larger, digest);
    this.#table = larger;
  }
}

const FREE = 0n;

/** @returns whether it was not there */
function put(table: BigUint64Array, given: bigint): boolean {
  const digest = given === FREE ? 1n : given;
  const last = table.length - 1;
  for (let place = Number(digest & BigInt(last)); ; place = (place + 1) & last) {
    if (table[place] === digest) return false;
    if (table[place] === FREE) {
      table[place] = digest;
      return true;
    }
  }
}
