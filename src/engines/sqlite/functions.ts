import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { RE2JS } from 're2js';
import { sideBySide, wordsOf } from '../../compile/search.ts';
import { canonicalDate, canonicalTimestamp, fractionText } from '../../dictionary/index.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { fileSignature } from '../../store/file-signature.ts';
import { liesWithin } from './polygon.ts';

/** Thrown inside a statement whose time is up; ends it at the next row. */
export const DEADLINE_MESSAGE = 'plat: the time of this statement is up';

/** Thrown for a number that a query computes and that JSON cannot say. */
export const RANGE_MESSAGE = 'plat: a number of this statement leaves the range of numbers';

/** When the running statement has to end, on the clock of `performance.now()`. */
export interface Deadline {
  set(milliseconds: number): void;
  clear(): void;
}

/** Rows between two looks at the clock. */
const STRIDE = 64;

type Value = string | number | bigint | null | Uint8Array;

/** Registers the functions that plat's statements use and SQLite does not have. */
export function registerFunctions(database: DatabaseSync): Deadline {
  const pure = { deterministic: true };
  database.function('plat_lower', pure, (text: Value) => mapText(text, (given) => given.toLowerCase()));
  database.function('plat_upper', pure, (text: Value) => mapText(text, (given) => given.toUpperCase()));
  database.function('plat_ends_with', pure, endsWith);
  database.function('plat_substring', pure, substring);
  database.function('plat_matches', pure, matches);
  database.function('plat_within', pure, within);
  database.function('plat_has_words', pure, hasWords);
  database.function('plat_words', pure, (texts: Value) =>
    mapText(texts, (given) => wordsOf(given).join(' ')),
  );
  database.function('plat_sha256', pure, (text: Value) =>
    mapText(text, (given) => hash('sha256', given, 'base64url')),
  );
  database.function('plat_in_path', pure, (text: Value) => mapText(text, encodeURIComponent));
  database.function('plat_shift', pure, shift);
  database.function('plat_seconds', pure, secondsBetween);
  database.function('plat_cast', pure, castValue);
  database.function('plat_number_text', { ...pure, useBigIntArguments: true }, numberText);
  database.function('plat_number', { ...pure, useBigIntArguments: true }, finiteNumber);
  return registerDeadline(database);
}

/** Served files are signed with the store's secret, so only a connection that knows it can make their addresses. */
export function registerFileUrl(database: DatabaseSync, secret: string): void {
  database.function(
    'plat_file_url',
    { deterministic: true },
    (path: Value, role: Value, expires: Value, base: Value) => {
      if (typeof path !== 'string') return null;
      const signature = fileSignature(secret, String(role), Number(expires), path);
      return `${base}/media/${signature}/${encodeURI(path)}`;
    },
  );
}

function registerDeadline(database: DatabaseSync): Deadline {
  let end = Number.POSITIVE_INFINITY;
  let calls = 0;
  database.function('plat_deadline', () => {
    if (++calls % STRIDE === 0 && performance.now() > end) throw new Error(DEADLINE_MESSAGE);
    return 1;
  });
  return {
    set: (milliseconds) => {
      end = performance.now() + milliseconds;
    },
    clear: () => {
      end = Number.POSITIVE_INFINITY;
    },
  };
}

function mapText(value: Value, change: (text: string) => string): Value {
  return typeof value === 'string' ? change(value) : null;
}

function endsWith(text: Value, end: Value): Value {
  return typeof text === 'string' && typeof end === 'string' ? Number(text.endsWith(end)) : null;
}

/** In characters from 0; a negative start counts from the end, but not beyond the beginning. */
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

/** Patterns that a thread keeps compiled, and about what each takes beside its own text. */
const PATTERNS = { entries: 200, bytes: 8 * 1024 * 1024 };
const COMPILED = 10_000;
const COMPILED_CHARACTER = 80;

const searched = new BoundedCache<RegExp>('search words', PATTERNS);

function hasWords(texts: Value, words: Value): Value {
  if (typeof texts !== 'string' || typeof words !== 'string') return null;
  let pattern = searched.get(words);
  if (pattern === undefined) {
    pattern = sideBySide(words.split(' '), '\u001f');
    searched.put(words, pattern, COMPILED + COMPILED_CHARACTER * words.length);
  }
  return pattern.test(texts.toLowerCase()) ? 1 : 0;
}

const patterns = new BoundedCache<RE2JS>('regular expressions', PATTERNS);

function matches(text: Value, pattern: Value, ignoreCase: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return null;
  const flags = Number(ignoreCase) === 1 ? RE2JS.CASE_INSENSITIVE : 0;
  const key = `${flags}${pattern}`;
  let compiled = patterns.get(key);
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern, flags);
    patterns.put(key, compiled, COMPILED + COMPILED_CHARACTER * pattern.length);
  }
  return compiled.matcher(text).find() ? 1 : 0;
}

/** Columns hold timestamps without the Z, so that shorter ones sort before longer ones. */
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

/** To the microsecond, as in PostgreSQL. */
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
  // As a text, since a sum of both would be rounded twice.
  const [whole, rest] = seconds > 0 && finer < 0 ? [seconds - 1, finer + 1e6] : [seconds, finer];
  const [positive, negative] = whole < 0 && rest > 0 ? [whole + 1, rest - 1e6] : [whole, rest];
  const sign = positive < 0 || negative < 0 ? '-' : '';
  return Number(`${sign}${Math.abs(positive)}.${String(Math.abs(negative)).padStart(6, '0')}`);
}

/** A number as JSON writes it. */
function numberText(number: Value): Value {
  return number === null ? null : String(number);
}

/** A number as JSON has it. @throws for one that left the range of numbers, which JSON cannot say */
function finiteNumber(given: Value): Value {
  if (given === null) return null;
  const number = Number(given);
  if (!Number.isFinite(number)) throw new Error(RANGE_MESSAGE);
  return String(number);
}

/** Turns a text into a value of another type; null where it is none. */
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
      // Without a zone it is UTC (OData 4.01 URL conventions, 5.1.1.10.1, rule 11).
      return canonicalTimestamp(/[Zz]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)?.slice(0, -1) ?? null;
    case 'time':
      return canonicalTimestamp(`1970-01-01T${text}Z`)?.slice(11, -1) ?? null;
    default:
      return null;
  }
}
