/**
 * The functions of queries in JavaScript, for an engine that has no such functions but can call these from its statements. Values
 * are in the form of columns; a value of another type returns null.
 */
import { hash } from 'node:crypto';
import { RE2JS } from 're2js';
import { canonicalDate, canonicalTimestamp, fractionText } from '../dictionary/index.ts';
import type { Search } from '../query/tree.ts';
import { BoundedCache } from '../shared/bounded-cache.ts';
import type { Deadline } from '../shared/deadline.ts';
import { indexedWords, searchTest, wordsOf } from './search.ts';

/** Thrown for a computed number that JSON cannot represent. */
export const RANGE_MESSAGE = 'plat: a number of this statement leaves the range of numbers';
/** Thrown by a statement whose time is up. */
export const DEADLINE_MESSAGE = 'plat: the time of this statement is up';
/** Thrown by a statement that would keep more in memory than it may. */
export const MEMORY_MESSAGE = 'plat: the functions of this statement receive too much';

export type Value = string | number | bigint | null | Uint8Array;

/** Makes a function of a text, which returns null for any other value. */
const ofText =
  (change: (text: string) => string) =>
  (value: Value): Value =>
    typeof value === 'string' ? change(value) : null;

function endsWith(text: Value, end: Value): Value {
  return typeof text === 'string' && typeof end === 'string' ? Number(text.endsWith(end)) : null;
}

/** Counts characters from 0; a negative start counts from the end, but not beyond the beginning. */
function substring(text: Value, start: Value, count: Value): Value {
  if (typeof text !== 'string' || start === null || count === null) return null;
  const characters = [...text];
  const from = Number(start) < 0 ? Math.max(0, characters.length + Number(start)) : Number(start);
  return characters.slice(from, from + Math.max(0, Number(count))).join('');
}

function within(latitude: Value, longitude: Value, ring: Value): Value {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return null;
  return Number(liesWithin(latitude, longitude, String(ring)));
}

/** The number of patterns that a thread keeps compiled, and the approximate size of each in addition to its own text. */
const PATTERNS = { entries: 200, bytes: 8 * 1024 * 1024 };
const COMPILED_BYTES = 10_000;
const BYTES_PER_CHARACTER = 80;

const searches = new BoundedCache<(texts: string) => boolean>('searches', PATTERNS);

/** @param search a `Search` as JSON */
function satisfies(texts: Value, search: Value): Value {
  if (typeof texts !== 'string' || typeof search !== 'string') return null;
  let test = searches.get(search);
  if (test === undefined) {
    const tree: Search = JSON.parse(search);
    test = searchTest(tree);
    searches.put(search, test, COMPILED_BYTES + BYTES_PER_CHARACTER * search.length);
  }
  return test(texts.toLowerCase()) ? 1 : 0;
}

const patterns = new BoundedCache<RE2JS>('regular expressions', PATTERNS);

function matches(text: Value, pattern: Value, ignoreCase: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return null;
  const flags = Number(ignoreCase) === 1 ? RE2JS.CASE_INSENSITIVE : 0;
  const key = `${flags}${pattern}`;
  let compiled = patterns.get(key);
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern, flags);
    patterns.put(key, compiled, COMPILED_BYTES + BYTES_PER_CHARACTER * pattern.length);
  }
  return compiled.matcher(text).find() ? 1 : 0;
}

/** Columns contain timestamps without the Z, so that shorter ones sort before longer ones. */
const wholeSeconds = (text: string): number =>
  Date.parse(text.length > 10 ? `${text.slice(0, 19)}Z` : `${text}T00:00:00Z`) / 1000;

/** Microseconds beyond the whole second. */
const microseconds = (text: string): number => Number(text.slice(20).padEnd(6, '0'));

function storedTimestamp(seconds: number, finer: number): string | null {
  const milliseconds = seconds * 1000;
  if (!Number.isFinite(milliseconds) || Math.abs(milliseconds) > 8.64e15) return null;
  const text = new Date(milliseconds).toISOString();
  return text.length === 24 ? `${text.slice(0, 19)}${fractionText(String(finer).padStart(6, '0'))}` : null;
}

/** Is exact to the microsecond, as in PostgreSQL. */
function shift(moment: Value, seconds: Value): Value {
  if (typeof moment !== 'string' || seconds === null) return null;
  const whole = Math.floor(Number(seconds));
  const finer = microseconds(moment) + Math.floor((Number(seconds) - whole) * 1e6 + 0.5);
  const carried = Math.floor(finer / 1e6);
  const shifted = storedTimestamp(wholeSeconds(moment) + whole + carried, finer - carried * 1e6);
  return moment.length > 10 || shifted === null ? shifted : shifted.slice(0, 10);
}

function secondsBetween(later: Value, earlier: Value): Value {
  if (typeof later !== 'string' || typeof earlier !== 'string') return null;
  const seconds = wholeSeconds(later) - wholeSeconds(earlier);
  const finer = microseconds(later) - microseconds(earlier);
  if (finer === 0) return seconds;
  // The result is composed as a text, since a sum of both would be rounded twice.
  const [whole, rest] = seconds > 0 && finer < 0 ? [seconds - 1, finer + 1e6] : [seconds, finer];
  const [positive, negative] = whole < 0 && rest > 0 ? [whole + 1, rest - 1e6] : [whole, rest];
  const sign = positive < 0 || negative < 0 ? '-' : '';
  return Number(`${sign}${Math.abs(positive)}.${String(Math.abs(negative)).padStart(6, '0')}`);
}

/** A number as JSON writes it. */
function numberText(number: Value): Value {
  return number === null ? null : String(number);
}

/** A number as JSON represents it. @throws for one beyond the range of numbers, which JSON cannot represent */
function finiteNumber(given: Value): Value {
  if (given === null) return null;
  const number = Number(given);
  if (!Number.isFinite(number)) throw new Error(RANGE_MESSAGE);
  return String(number);
}

/** Converts a text to a value of another type; null if that is not possible. */
function castValue(text: Value, type: Value): Value {
  if (typeof text !== 'string') return null;
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
    case 'decimal': {
      const isNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text));
      return isNumber ? Number(text) : null;
    }
    case 'boolean':
      return text === 'true' ? 1 : text === 'false' ? 0 : null;
    case 'date':
      return canonicalDate(text) ?? null;
    case 'timestamp':
      // A text without a zone is in UTC (OData 4.01 URL conventions, 5.1.1.10.1, rule 11).
      return canonicalTimestamp(/[Zz]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)?.slice(0, -1) ?? null;
    case 'time':
      return canonicalTimestamp(`1970-01-01T${text}Z`)?.slice(11, -1) ?? null;
    default:
      return null;
  }
}

/** Rings that a thread keeps parsed. */
const rings = new BoundedCache<Float64Array>('polygons', { entries: 100, bytes: 4 * 1024 * 1024 });

/** Parses a ring in JSON, `[longitude,latitude,longitude,latitude,…]`, to numbers that are fast to iterate for each row. */
function readRing(json: string): Float64Array {
  const known = rings.get(json);
  if (known !== undefined) return known;
  const numbers: unknown = JSON.parse(json);
  const ring = Float64Array.from(Array.isArray(numbers) ? numbers.map(Number) : []);
  return rings.put(json, ring, ring.byteLength);
}

const isBetween = (value: number, one: number, other: number): boolean =>
  one < other ? one <= value && value <= other : other <= value && value <= one;

/**
 * Whether a place lies in a ring or on its border: an edge runs through the place, or a ray from it to the east crosses an odd
 * number of edges. The last point is joined to the first.
 * @param json `[longitude,latitude,…]`
 */
function liesWithin(latitude: number, longitude: number, json: string): boolean {
  const ring = readRing(json);
  let inside = false;
  let [fromX, fromY] = [ring.at(-2) ?? Number.NaN, ring.at(-1) ?? Number.NaN];
  for (let index = 0; index < ring.length; index += 2) {
    const [toX, toY] = [ring[index] ?? Number.NaN, ring[index + 1] ?? Number.NaN];
    const turn = (toX - fromX) * (latitude - fromY) - (longitude - fromX) * (toY - fromY);
    if (turn === 0 && isBetween(longitude, fromX, toX) && isBetween(latitude, fromY, toY)) return true;
    // The place is to the left of an edge that goes north, or to the right of one that goes south.
    if (fromY > latitude !== toY > latitude && turn < 0 === toY < fromY) inside = !inside;
    [fromX, fromY] = [toX, toY];
  }
  return inside;
}

/**
 * Bytes of kept values after which a statement should return a row, which it may keep at most, and after which it looks at the
 * clock again.
 */
const BOUNDS = { much: 16 * 1024 * 1024, most: 512 * 1024 * 1024, unchecked: 4096 };
/** The size of a value, in addition to the characters of a text. */
const VALUE_BYTES = 24;

/**
 * Bounds the calls of functions that a statement makes: they end it once its time is up, or if together they keep too much in memory.
 * `node:sqlite` opens no scope for a call, so V8 keeps the values that are passed to functions until the statement returns a row,
 * however many rows it reads until then.
 */
export class FunctionCalls {
  readonly #deadline: Deadline;
  readonly #bounds: typeof BOUNDS;
  #kept = 0;
  #nextCheck = 0;
  #most = Number.POSITIVE_INFINITY;

  /** @param deadline of the running statement */
  constructor(deadline: Deadline, bounds = BOUNDS) {
    this.#deadline = deadline;
    this.#bounds = bounds;
  }

  /** Begins a statement of a request, or continues it after a row. */
  begin(): void {
    this.#kept = 0;
    this.#nextCheck = 0;
    this.#most = this.#bounds.most;
  }

  /** Ends the statements of a request: those of writes and checks have no limit. */
  end(): void {
    this.#most = Number.POSITIVE_INFINITY;
  }

  /** @throws once the time of the statement is up */
  mustContinue(): Value {
    if (this.#deadline.isOver) throw new Error(DEADLINE_MESSAGE);
    return 1;
  }

  /** Whether so much is kept that the statement should return a row. */
  keepMuch(): Value {
    return Number(this.#kept >= this.#bounds.much);
  }

  #check(): void {
    this.mustContinue();
    if (this.#kept > this.#most) throw new Error(MEMORY_MESSAGE);
    this.#nextCheck = this.#kept + this.#bounds.unchecked;
  }

  /** A function that counts the values it receives, with the same number of parameters. */
  bounded(call: (...values: Value[]) => Value): (...values: Value[]) => Value {
    const bounded = (...values: Value[]): Value => {
      for (const value of values) this.#kept += VALUE_BYTES + (typeof value === 'string' ? value.length : 0);
      if (this.#kept > this.#nextCheck) this.#check();
      return call(...values);
    };
    return Object.defineProperty(bounded, 'length', { value: call.length });
  }
}

/** The functions that statements call, by name. The engine passes integers as numbers. */
export const FUNCTIONS: Readonly<Record<string, (...values: Value[]) => Value>> = {
  plat_lower: ofText((text) => text.toLowerCase()),
  plat_upper: ofText((text) => text.toUpperCase()),
  plat_words: ofText((text) => wordsOf(text).join(' ')),
  plat_indexed: (texts, isMarked) => (typeof texts === 'string' ? indexedWords(texts, isMarked === 1) : null),
  plat_sha256: ofText((text) => hash('sha256', text, 'base64url')),
  plat_in_path: ofText(encodeURIComponent),
  plat_ends_with: endsWith,
  plat_substring: substring,
  plat_matches: matches,
  plat_within: within,
  plat_satisfies: satisfies,
  plat_shift: shift,
  plat_seconds: secondsBetween,
  plat_cast: castValue,
};

/**
 * The functions of numbers that statements call, for every number that a column may contain: the engine passes integers as
 * `bigint`.
 */
export const NUMBER_FUNCTIONS: typeof FUNCTIONS = {
  plat_number_text: numberText,
  plat_number: finiteNumber,
};
