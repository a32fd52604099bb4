/**
 * A set of keys that stores a 64-bit hash of each, in at most 16 bytes, since a file may contain many millions. Among a
 * million keys, the probability that two have the same hash is about 1 in 37 million.
 */
export class KeySet {
  #size = 0;
  /** Two numbers for each slot. A slot with two zeros is empty. */
  #places = new Uint32Array(2 << 10);

  /** @returns whether the key is new */
  add(key: string): boolean {
    const isNew = this.#put(...bitsOf(key));
    if (isNew && ++this.#size * 4 > this.#places.length) this.#grow();
    return isNew;
  }

  #put(high: number, low: number): boolean {
    const places = this.#places;
    const mask = places.length / 2 - 1;
    for (let place = (high ^ low) & mask; ; place = (place + 1) & mask) {
      const [first, second] = [places[place * 2], places[place * 2 + 1]];
      if (first === high && second === low) return false;
      if (first === 0 && second === 0) {
        places[place * 2] = high;
        places[place * 2 + 1] = low;
        return true;
      }
    }
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) {
      const [high = 0, low = 0] = [before[at], before[at + 1]];
      if (high !== 0 || low !== 0) this.#put(high, low);
    }
  }
}

/** Two differently mixed hashes of a text, as in cyrb53; never both zero. */
function bitsOf(key: string): [high: number, low: number] {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return [high >>> 0, low >>> 0 || 1];
}
