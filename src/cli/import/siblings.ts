/**
 * The order in which an import stores parts of other records, such as media. Each transaction moves the timestamps of the records whose
 * parts it stores, which takes longer than to store the parts, so those of one record come together, in the order of the keys in which
 * the tables are. This module reads no JSON.
 */
import type { Resource } from '../../dictionary/index.ts';
import type { FieldMap } from './field-names.ts';
import { KeySet } from './key-set.ts';
import type { RawRecord } from './record-json.ts';

/** How many records are ordered at once: their bytes, and the fewest. A smaller number is stored in the order of the file. */
const AT_ONCE = { bytes: 128 << 20, fewest: 5000 };

/** The text of a member that has no escapes. */
function readerOf(name: string): (text: string) => string | undefined {
  const member = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*)"`);
  return (text) => member.exec(text)?.[1];
}

/** Undefined for resources without a parent, and if a map gives the names of their keys in the texts to other fields. */
export function siblingsOf(resource: Resource, map: FieldMap): Siblings | undefined {
  const { key, parent } = resource;
  return parent === undefined || map.has(key) || map.has(parent.keyField)
    ? undefined
    : new Siblings(resource);
}

/** The numbers that are kept of a record: an object of each would take as much memory as its text. */
const NUMBERS_PER_RECORD = 5;
const FLAGS = { counted: 1, longNumbers: 2, deep: 4 };

/** Records of one resource that wait for their siblings. Texts are kept as bytes, which take no memory of V8. */
export class Siblings {
  readonly #keyOf: (text: string) => string | undefined;
  readonly #parentOf: (text: string) => string | undefined;
  readonly #atOnce: typeof AT_ONCE;
  /** The key of the parent of each record, and its text. */
  #bytes = Buffer.alloc(0);
  #used = 0;
  /** Of each record: where the key of its parent and its text end, its line, and what was counted in it. */
  #kept: number[] = [];
  /** What few records have besides, by their places. */
  #others = new Map<number, Omit<RawRecord, 'line' | 'text' | 'counted'>>();
  #keys = new KeySet();
  /** Whether the order of the file decides which one of two records is kept. */
  #isFixed = false;
  #waiting = 0;

  constructor({ key, parent }: Pick<Resource, 'key' | 'parent'>, atOnce = AT_ONCE) {
    this.#keyOf = readerOf(key);
    this.#parentOf = readerOf(parent?.keyField ?? key);
    this.#atOnce = atOnce;
  }

  /** How many records wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @returns whether there was room for the record */
  add({ line, text, counted, ...others }: RawRecord): boolean {
    // What cannot be read is rejected, in whatever order.
    const isFault = others.fault !== undefined;
    const [key, parent] = isFault ? [`\n${line}`, ''] : [this.#keyOf(text), this.#parentOf(text)];
    const length = Buffer.byteLength(text) + Buffer.byteLength(parent ?? '');
    // Half of a surrogate pair has no bytes of its own.
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

  /** Returns the records, each of which then waits no longer. */
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

  /** Where the record before ends. */
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
