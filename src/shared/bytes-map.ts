/**
 * Values by short texts that are looked up where they are, in UTF-8 among other bytes: to make a string of each text and to look that
 * up takes several times as long.
 */

interface Entry<T> {
  readonly text: Uint8Array;
  value: T;
  /** An entry with the same hash. */
  next: Entry<T> | undefined;
}

export class BytesMap<T> {
  readonly #entries = new Map<number, Entry<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The value of the text from `start` to before `end`. */
  get(bytes: Uint8Array, start: number, end: number): T | undefined {
    return this.#entryOf(hashOf(bytes, start, end), bytes, start, end)?.value;
  }

  /** @returns whether the text is new */
  set(text: Uint8Array, value: T): boolean {
    const hash = hashOf(text, 0, text.length);
    const known = this.#entryOf(hash, text, 0, text.length);
    if (known !== undefined) {
      known.value = value;
      return false;
    }
    this.#entries.set(hash, { text, value, next: this.#entries.get(hash) });
    this.#size++;
    return true;
  }

  /** Removes a text, and those with the same hash. */
  delete(text: Uint8Array): void {
    const hash = hashOf(text, 0, text.length);
    for (let entry = this.#entries.get(hash); entry !== undefined; entry = entry.next) this.#size--;
    this.#entries.delete(hash);
  }

  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }

  #entryOf(hash: number, bytes: Uint8Array, start: number, end: number): Entry<T> | undefined {
    let entry = this.#entries.get(hash);
    while (entry !== undefined && !isAt(entry.text, bytes, start, end)) entry = entry.next;
    return entry;
  }
}

/** FNV-1a, in as many bits as V8 stores in a number without allocating it. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash >>> 2;
}

function isAt(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = text;
  if (length !== end - start) return false;
  for (let at = 0; at < length; at++) if (bytes[start + at] !== text[at]) return false;
  return true;
}
