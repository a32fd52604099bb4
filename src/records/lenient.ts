/**
 * Reads values whose form differs from the dictionary's but has the same meaning, as exports and older servers write them, and
 * values that exceed the sizes that the dictionary suggests. It does not read a value if information would be lost.
 */
import {
  canonicalTimestamp,
  type Field,
  type FieldValue,
  type Lookup,
  timestampFrom,
} from '../dictionary/index.ts';
import { LongNumber, tryParseJson } from '../shared/json.ts';
import {
  hasExcessDecimals,
  isUnsafeInteger,
  losesDigits,
  losesOnlyFraction,
  readDecimal,
  readInteger,
  readNumber,
  readString,
  type ValueRules,
} from './value.ts';

/** How a value differs from the form of its field, in words for its sender. */
export const LENIENCIES = {
  listAsText: 'a list as a text with commas',
  numberAsText: 'a number as a text',
  rounded: 'a number of more digits than a double-precision number has',
  booleanAsText: 'true or false as a word or number',
  textAsNumber: 'a text as a number or boolean',
  dateAsTimestamp: 'a date as a timestamp',
  fraction: 'a timestamp of more than six decimals',
  leapSecond: 'a leap second, for the second after it',
  emptyText: 'an empty text for no value',
  length: 'a text longer than the dictionary suggests',
  digits: 'a number of more digits than the dictionary suggests',
  decimals: 'a number of more decimals than the dictionary suggests',
} as const;
export type Leniency = keyof typeof LENIENCIES;

/** The leniencies that are inevitable in formats in which all values are texts. */
export const TEXT_FORMS: ReadonlySet<Leniency> = new Set([
  'listAsText',
  'numberAsText',
  'booleanAsText',
  'dateAsTimestamp',
  'emptyText',
]);

interface LenientValue {
  readonly value: FieldValue;
  readonly leniencies: readonly Leniency[];
}

/**
 * Reads a value that its field does not accept in its given form; undefined if no other form applies.
 * @param lookup the lookup of the field, some of whose values may contain commas
 */
export function readLeniently(
  field: Field,
  json: unknown,
  rules: ValueRules,
  lookup: Lookup | undefined,
): LenientValue | undefined {
  const other = isUnsafeInteger(json) ? undefined : otherForm(field, json, rules, lookup);
  const given = other === undefined ? json : other.value;
  if (given === null) return other && { value: null, leniencies: [other.leniency] };
  const leniencies: Leniency[] = other === undefined ? [] : [other.leniency];
  const unbounded = { lookup: rules.lookup, bounded: false };
  const { type } = field;
  if (field.collection) {
    if (!Array.isArray(given)) return undefined;
    const list: string[] = [];
    for (const each of given) {
      const text = textOf(each) ?? each;
      const read = readString(field, text, unbounded);
      if (!read.ok) return undefined;
      if (text !== each) leniencies.push('textAsNumber');
      if (typeof read.value !== 'string') continue;
      list.push(read.value);
      if (rules.bounded && !readString(field, text, rules).ok) leniencies.push('length');
    }
    return { value: list, leniencies: [...new Set(leniencies)] };
  }
  switch (type.kind) {
    case 'string': {
      const read = readString(field, given, unbounded);
      if (!read.ok) return undefined;
      if (rules.bounded && !readString(field, given, rules).ok) leniencies.push('length');
      return { value: read.value, leniencies };
    }
    case 'integer': {
      const read = rules.bounded ? readInteger(given, undefined) : readNumber(given);
      if (!read.ok) return undefined;
      if (rules.bounded && !readInteger(given, type.digits).ok) leniencies.push('digits');
      return { value: read.value, leniencies };
    }
    case 'decimal': {
      const read = readNumber(given);
      if (!read.ok) return undefined;
      if (rules.bounded) {
        if (!readDecimal(given, MOST_DIGITS, type.scale).ok) leniencies.push('decimals');
        if (!readDecimal(given, type.precision - type.scale + MOST_DIGITS, MOST_DIGITS).ok)
          leniencies.push('digits');
      }
      return { value: read.value, leniencies };
    }
    case 'boolean':
      return typeof given === 'boolean' ? { value: given, leniencies } : undefined;
    case 'date':
    case 'timestamp':
      return other === undefined || typeof given !== 'string' ? undefined : { value: given, leniencies };
  }
}

/** More digits than any double has before or after the point. */
const MOST_DIGITS = 400;

/** A timestamp that some senders write instead of a date. */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]00:?00)?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const YES: ReadonlySet<unknown> = new Set(['true', 't', 'yes', 'y', '1', 1]);
const NO: ReadonlySet<unknown> = new Set(['false', 'f', 'no', 'n', '0', 0]);

interface OtherForm {
  readonly value: unknown;
  readonly leniency: Leniency;
}

/** Converts a value from another form to the form of its field. */
function otherForm(
  field: Field,
  json: unknown,
  { bounded }: ValueRules,
  lookup: Lookup | undefined,
): OtherForm | undefined {
  if (field.collection) {
    if (typeof json === 'string') return { value: splitList(json, lookup), leniency: 'listAsText' };
    return undefined;
  }
  const { kind } = field.type;
  if (kind === 'string') {
    const text = textOf(json);
    return text === undefined ? undefined : { value: text, leniency: 'textAsNumber' };
  }
  const given = json instanceof LongNumber ? json.text : typeof json === 'string' ? json.trim() : json;
  if (given === '') return { value: null, leniency: 'emptyText' };
  switch (kind) {
    case 'integer':
    case 'decimal': {
      if (typeof given !== 'string' || !NUMBER.test(given)) return undefined;
      const value = Number(given);
      if (!losesDigits(value, given)) return { value, leniency: 'numberAsText' };
      const mayRound = kind === 'decimal' || !bounded;
      return mayRound && losesOnlyFraction(value) ? { value, leniency: 'rounded' } : undefined;
    }
    case 'boolean': {
      const word = typeof given === 'string' ? given.toLowerCase() : given;
      if (YES.has(word)) return { value: true, leniency: 'booleanAsText' };
      return NO.has(word) ? { value: false, leniency: 'booleanAsText' } : undefined;
    }
    case 'date': {
      const day = typeof given === 'string' ? MIDNIGHT.exec(given)?.[1] : undefined;
      return day === undefined ? undefined : { value: day, leniency: 'dateAsTimestamp' };
    }
    case 'timestamp': {
      const timestamp = hasExcessDecimals(json) ? canonicalTimestamp(json) : undefined;
      if (timestamp !== undefined) return { value: timestamp, leniency: 'fraction' };
      const after = typeof given === 'string' ? afterLeapSecond(given) : undefined;
      return after === undefined ? undefined : { value: after, leniency: 'leapSecond' };
    }
  }
}

/** The second after a leap second, which is how POSIX and PostgreSQL read it; undefined for anything else. */
function afterLeapSecond(text: string): string | undefined {
  const [, minute, zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):60(?:\.0+)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const before = canonicalTimestamp(`${minute}:59${zone}`);
  // A leap second is the last second of its day in UTC.
  return before?.endsWith('T23:59:59Z') ? timestampFrom(Date.parse(before) + 1000) : undefined;
}

function textOf(json: unknown): string | undefined {
  if (json instanceof LongNumber) return json.text;
  return typeof json === 'boolean' || Number.isFinite(json) ? String(json) : undefined;
}

/** Splits a list that is written as a text: at commas, unless a value of the lookup contains commas. */
function splitList(text: string, lookup: Lookup | undefined): string[] {
  const listed = text.trim();
  const json = listed.startsWith('[') ? parseList(listed) : undefined;
  if (json !== undefined) return json;
  const isValue = (each: string): boolean => lookup?.spellings.has(each) === true;
  if (isValue(listed)) return [listed];
  const pieces = listed.split(',');
  const values: string[] = [];
  for (let at = 0; at < pieces.length; ) {
    let next = at + 1;
    for (let end = pieces.length; end > at + 1 && !isValue(pieces[at]?.trim() ?? ''); end--) {
      if (!isValue(pieces.slice(at, end).join(',').trim())) continue;
      next = end;
      break;
    }
    const value = pieces.slice(at, next).join(',').trim();
    if (value !== '') values.push(value);
    at = next;
  }
  return values;
}

function parseList(text: string): string[] | undefined {
  const list = tryParseJson(text);
  return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
}
