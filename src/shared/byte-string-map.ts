/**
 * A hash map from short byte strings to byte strings. A key is looked up as a slice of a larger buffer, in UTF-8: decoding each key
 * to a string first takes several times as long. Each text is stored directly after its key, so that a lookup and the copy of its
 * result cause as few cache misses as possible.
 */

/** Returned by `find` if no text has the key. */
export const NO_TEXT = -1;

/** The number of integers of a slot: the hash of the key, and the position of the text. */
const SLOT = 2;
/** Stored in a slot instead of the position of a text, if the slot is empty, or if its text was removed. */
const [EMPTY, REMOVED] = [0, -1];
/** The distances from a text back to the stored lengths of its key and of itself. */
const [KEY_LENGTH, LENGTH] = [8, 4];
const FIRST_BYTES = 4 * 1024;
const FIRST_SLOTS = 64;

export class ByteStringMap {
  /**
   * The memory of the texts. It is only appended to, so that a position that `find` has returned stays valid, whatever is put or
   * deleted afterwards.
   */
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** A view of the same memory. */
  #lengths = new DataView(this.#memory.buffer);
  #used = 0;
  #slots = new Int32Array(SLOT * FIRST_SLOTS);
  /** The number of slots that are not empty. */
  #taken = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The total memory in bytes. */
  get bytes(): number {
    return this.#memory.length + this.#slots.byteLength;
  }

  /** The position of the text whose key is the slice of `bytes` from `start` to `end` (exclusive); `NO_TEXT` if there is none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#slotOf(fnv1a(bytes, start, end), bytes, start, end);
    return at < 0 ? NO_TEXT : (this.#slots[at + 1] ?? NO_TEXT);
  }

  lengthOf(place: number): number {
    return this.#lengths.getUint32(place - LENGTH);
  }

  /** @returns the number of bytes that were copied */
  copy(place: number, to: Uint8Array, at: number): number {
    return this.#memory.copy(to, at, place, place + this.lengthOf(place));
  }

  textAt(place: number): Buffer {
    return this.#memory.subarray(place, place + this.lengthOf(place));
  }

  /** Replaces the text of a key. @returns the position of the text */
  put(key: Uint8Array, text: Uint8Array): number {
    const place = this.#append(key, text);
    const hash = fnv1a(key, 0, key.length);
    const known = this.#slotOf(hash, key, 0, key.length);
    if (known >= 0) this.#slots[known + 1] = place;
    else {
      if (2 * SLOT * ++this.#taken > this.#slots.length) this.#grow();
      this.#size++;
      enter(this.#slots, hash, place);
    }
    return place;
  }

  delete(key: Uint8Array): void {
    const at = this.#slotOf(fnv1a(key, 0, key.length), key, 0, key.length);
    if (at < 0) return;
    this.#slots[at + 1] = REMOVED;
    this.#size--;
  }

  #append(key: Uint8Array, text: Uint8Array): number {
    const place = this.#used + key.length + KEY_LENGTH;
    const end = place + text.length;
    if (end > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#used);
      this.#memory = larger;
      this.#lengths = new DataView(larger.buffer);
    }
    this.#memory.set(key, this.#used);
    this.#lengths.setUint32(place - KEY_LENGTH, key.length);
    this.#lengths.setUint32(place - LENGTH, text.length);
    this.#memory.set(text, place);
    this.#used = end;
    return place;
  }

  /** Where the numbers of a key begin; negative if it has no slot. */
  #slotOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const memory = this.#memory;
    const length = end - start;
    for (let at = firstSlot(slots, hash); slots[at + 1] !== EMPTY; at = nextSlot(slots, at)) {
      const place = slots[at + 1] ?? REMOVED;
      if (slots[at] !== hash || place === REMOVED) continue;
      if (this.#lengths.getUint32(place - KEY_LENGTH) !== length) continue;
      let storedAt = place - KEY_LENGTH - length;
      let soughtAt = start;
      while (soughtAt < end && memory[storedAt] === bytes[soughtAt]) {
        storedAt++;
        soughtAt++;
      }
      if (soughtAt === end) return at;
    }
    return -1;
  }

  /** Enlarges the table of slots, and drops the slots of removed texts. */
  #grow(): void {
    const before = this.#slots;
    let count = FIRST_SLOTS;
    while (count < 3 * (this.#size + 1)) count *= 2;
    this.#slots = new Int32Array(SLOT * count);
    for (let at = 0; at < before.length; at += SLOT) {
      const place = before[at + 1] ?? EMPTY;
      if (place > EMPTY) enter(this.#slots, before[at] ?? 0, place);
    }
    this.#taken = this.#size + 1;
  }
}

const firstSlot = (slots: Int32Array, hash: number): number =>
  SLOT * ((hash ^ (hash >>> 15)) & (slots.length / SLOT - 1));

const nextSlot = (slots: Int32Array, at: number): number => (at + SLOT) & (slots.length - 1);

function enter(slots: Int32Array, hash: number, place: number): void {
  let at = firstSlot(slots, hash);
  while (slots[at + 1] !== EMPTY) at = nextSlot(slots, at);
  slots[at] = hash;
  slots[at + 1] = place;
}

/** FNV-1a over a slice of bytes. @param hash of what comes before them */
export function fnv1a(bytes: Uint8Array, start: number, end: number, hash = 0x811c9dc5): number {
  let next = hash;
  for (let at = start; at < end; at++) next = Math.imul(next ^ (bytes[at] ?? 0), 0x01000193);
  return next | 0;
}
