/**
 * Orders the parts of other records, such as media, before an import stores them. A transaction also moves the timestamps of the
 * records whose parts it stores, which takes longer than storing the parts, so the parts of one record are stored together, in the
 * order of the keys of those records. This module parses no JSON.
 */
import type { Resource } from '../../dictionary/index.ts';
import type { FieldMap } from './field-names.ts';
import { KeySet } from './key-set.ts';
import type { RawRecord } from './record-json.ts';

/**
 * The maximum bytes of records that are ordered at once, and the minimum number of records. Fewer records are stored in the order
 * of the file.
 */
const AT_ONCE = { bytes: 128 << 20, fewest: 5000 };

/** Extracts the value of a member from a text, if the value has no escapes. */
function readerOf(name: string): (text: string) => string | undefined {
  const member = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*)"`);
  return (text) => member.exec(text)?.[1];
}

/** Undefined for a resource without a parent, and if `--map` applies to the name of its key or of its parent's key. */
export function siblingsOf(resource: Resource, map: FieldMap): Siblings | undefined {
  const { key, parent } = resource;
  return parent === undefined || map.has(key) || map.has(parent.keyField)
    ? undefined
    : new Siblings(resource);
}

/** How many integers are kept per record. An object per record would take as much memory as its text. */
const NUMBERS_PER_RECORD = 5;
const FLAGS = { counted: 1, longNumbers: 2, deep: 4 };

/** Records of one resource that wait for their siblings. Texts are kept as bytes, which take no memory on the heap of V8. */
export class Siblings {
  readonly #keyOf: (text: string) => string | undefined;
  readonly #parentOf: (text: string) => string | undefined;
  readonly #atOnce: typeof AT_ONCE;
  /** For each record, the key of its parent, followed by its text. */
  #bytes = Buffer.alloc(0);
  #used = 0;
  /** For each record: the end of its parent's key, the end of its text, its line, and what the scanner counted in it. */
  #kept: number[] = [];
  /** Further members, which few records have, by the position of the record in `#kept`. */
  #others = new Map<number, Omit<RawRecord, 'line' | 'text' | 'counted'>>();
  #keys = new KeySet();
  /** Whether the order must stay that of the file, because it decides which of two records is kept. */
  #isFixed = false;
  #waiting = 0;

  constructor({ key, parent }: Pick<Resource, 'key' | 'parent'>, atOnce = AT_ONCE) {
    this.#keyOf = readerOf(key);
    this.#parentOf = readerOf(parent?.keyField ?? key);
    this.#atOnce = atOnce;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @returns whether there was room for the record */
  add({ line, text, counted, ...others }: RawRecord): boolean {
    // A record that cannot be read is rejected, whatever the order is.
    const isFault = others.fault !== undefined;
    const [key, parent] = isFault ? [`\n${line}`, ''] : [this.#keyOf(text), this.#parentOf(text)];
    const length = Buffer.byteLength(text) + Buffer.byteLength(parent ?? '');
    // A lone surrogate cannot be encoded in UTF-8.
    if (this.#used + length > this.#atOnce.bytes || !text.isWellFormed()) return false;
    if (this.#bytes.length === 0) this.#bytes = Buffer.allocUnsafeSlow(this.#atOnce.bytes);
    if (key === undefined || parent === undefined || !this.#keys.add(key)) this.#isFixed = true;
    if (Object.keys(others).length > 0) this.#others.set(this.#kept.length, others);
    const keyEnd = this.#used + this.#bytes.write(parent ?? '', this.#used);
    this.#used = keyEnd + this.#bytes.write(text, keyEnd);
    this.#kept.push(keyEnd, this.#used, line, counted?.members ?? 0, flagsOf(counted));
    this.#waiting++;
    return true;
  }

  /** Removes the records, and returns them in their order. */
  *take(): Iterable<RawRecord> {
    const places = Array.from(
      { length: this.#kept.length / NUMBERS_PER_RECORD },
      (_, at) => at * NUMBERS_PER_RECORD,
    );
    if (!this.#isFixed && places.length >= this.#atOnce.fewest) {
      const parents = places.map((place) => this.#text(this.#begin(place), this.#kept[place]));
      const parentOf = (place: number): string => parents[place / NUMBERS_PER_RECORD] ?? '';
      places.sort((one, other) => compare(parentOf(one), parentOf(other)));
    }
    for (const place of places) {
      const [keyEnd, end, line = 0, members = 0, flags = 0] = this.#kept.slice(
        place,
        place + NUMBERS_PER_RECORD,
      );
      this.#waiting--;
      yield { line, text: this.#text(keyEnd, end), ...countedOf(members, flags), ...this.#others.get(place) };
    }
    this.#used = 0;
    this.#kept = [];
    this.#others = new Map();
    this.#keys = new KeySet();
    this.#isFixed = false;
  }

  /** The end of the previous record. */
  #begin(place: number): number {
    return this.#kept[place - NUMBERS_PER_RECORD + 1] ?? 0;
  }

  #text(begin: number | undefined, end: number | undefined): string {
    return this.#bytes.toString('utf8', begin, end);
  }
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const flagsOf = (counted: RawRecord['counted']): number =>
  counted === undefined
    ? 0
    : FLAGS.counted + (counted.hasLongNumbers ? FLAGS.longNumbers : 0) + (counted.isDeep ? FLAGS.deep : 0);

function countedOf(members: number, flags: number): Pick<RawRecord, 'counted'> {
  if ((flags & FLAGS.counted) === 0) return {};
  const [hasLongNumbers, isDeep] = [(flags & FLAGS.longNumbers) !== 0, (flags & FLAGS.deep) !== 0];
  return { counted: { members, hasLongNumbers, isDeep } };
}
