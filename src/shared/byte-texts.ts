/**
 * Texts by short keys that are looked up where they are, in UTF-8 among other bytes: to make a string of each key and to look that up
 * takes several times as long. Each text lies behind its key in one piece of memory, so that a look-up and the copy of what it finds
 * wait for memory as rarely as possible.
 */

/** No text has the key. */
export const NO_TEXT = -1;

/** The numbers of a slot: the hash of the key, where the text begins, and the length of the key plus one. */
const SLOT = 4;
/** In place of the length: a slot without a text, and one whose text was removed. */
const [EMPTY, REMOVED] = [0, -1];
/** Before a text stands its length. */
const LENGTH = 4;
const FIRST_BYTES = 4 * 1024;
const FIRST_SLOTS = 64;

export class ByteTexts {
  /** Only ever appended to: what `find` has returned stays readable, whatever is put or deleted afterwards. */
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #slots = new Int32Array(SLOT * FIRST_SLOTS);
  /** Slots that are not empty. */
  #taken = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The memory of all of it. */
  get bytes(): number {
    return this.#memory.length + this.#slots.byteLength;
  }

  /** The place of the text whose key is from `start` to before `end`; `NO_TEXT` if there is none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#slotOf(hashOf(bytes, start, end), bytes, start, end);
    return at < 0 ? NO_TEXT : (this.#slots[at + 1] ?? NO_TEXT);
  }

  lengthOf(place: number): number {
    return this.#memory.readUInt32LE(place - LENGTH);
  }

  /** @returns the number of bytes that were copied */
  copy(place: number, to: Uint8Array, at: number): number {
    return this.#memory.copy(to, at, place, place + this.lengthOf(place));
  }

  textAt(place: number): Buffer {
    return this.#memory.subarray(place, place + this.lengthOf(place));
  }

  /** Replaces the text of a key. @returns its place */
  put(key: Uint8Array, text: Uint8Array): number {
    const place = this.#append(key, text);
    const hash = hashOf(key, 0, key.length);
    const known = this.#slotOf(hash, key, 0, key.length);
    if (known >= 0) this.#slots[known + 1] = place;
    else {
      if (2 * SLOT * ++this.#taken > this.#slots.length) this.#grow();
      this.#size++;
      enter(this.#slots, hash, place, key.length + 1);
    }
    return place;
  }

  delete(key: Uint8Array): void {
    const at = this.#slotOf(hashOf(key, 0, key.length), key, 0, key.length);
    if (at < 0) return;
    this.#slots[at + 2] = REMOVED;
    this.#size--;
  }

  #append(key: Uint8Array, text: Uint8Array): number {
    const place = this.#used + key.length + LENGTH;
    const end = place + text.length;
    if (end > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#used);
      this.#memory = larger;
    }
    this.#memory.set(key, this.#used);
    this.#memory.writeUInt32LE(text.length, place - LENGTH);
    this.#memory.set(text, place);
    this.#used = end;
    return place;
  }

  /** Where the numbers of a key begin; negative if it has no slot. */
  #slotOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const memory = this.#memory;
    const length = end - start + 1;
    for (let at = firstSlot(slots, hash); slots[at + 2] !== EMPTY; at = nextSlot(slots, at)) {
      if (slots[at] !== hash || slots[at + 2] !== length) continue;
      let own = (slots[at + 1] ?? 0) - LENGTH - (end - start);
      let other = start;
      while (other < end && memory[own] === bytes[other]) {
        own++;
        other++;
      }
      if (other === end) return at;
    }
    return -1;
  }

  /** Makes room for as many texts again, without the slots of removed ones. */
  #grow(): void {
    const before = this.#slots;
    let count = FIRST_SLOTS;
    while (count < 4 * (this.#size + 1)) count *= 2;
    this.#slots = new Int32Array(SLOT * count);
    for (let at = 0; at < before.length; at += SLOT) {
      const length = before[at + 2] ?? EMPTY;
      if (length > EMPTY) enter(this.#slots, before[at] ?? 0, before[at + 1] ?? 0, length);
    }
    this.#taken = this.#size + 1;
  }
}

const firstSlot = (slots: Int32Array, hash: number): number =>
  SLOT * ((hash ^ (hash >>> 15)) & (slots.length / SLOT - 1));

const nextSlot = (slots: Int32Array, at: number): number => (at + SLOT) & (slots.length - 1);

function enter(slots: Int32Array, hash: number, place: number, length: number): void {
  let at = firstSlot(slots, hash);
  while (slots[at + 2] !== EMPTY) at = nextSlot(slots, at);
  slots[at] = hash;
  slots[at + 1] = place;
  slots[at + 2] = length;
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash | 0;
}
