/** Validates the value of one field and converts it to canonical form. */
import {
  canonicalDate,
  canonicalTimestamp,
  type Field,
  type FieldValue,
  type Lookup,
} from '../dictionary/index.ts';
import { LongNumber } from '../shared/json.ts';
import { NOT_UTF8 } from '../shared/utf8-text.ts';

/** A value in canonical form, or the reason why it is invalid. */
type ValueResult =
  | { readonly ok: true; readonly value: FieldValue }
  | { readonly ok: false; readonly reason: string };

const valid = (value: FieldValue): ValueResult => ({ ok: true, value });
const invalid = (reason: string): ValueResult => ({ ok: false, reason });

/** Rules for a value in addition to the kind of its type. */
export interface ValueRules {
  /** The lookup of the field, to replace other spellings by its values. */
  readonly lookup: Lookup | undefined;
  /** Whether lengths and numbers of digits are limited. A replica keeps what its source sent. */
  readonly bounded: boolean;
}

/** Validates a JSON value against its field and converts it to the stored form. A null or empty collection becomes []. */
export function readValue(field: Field, json: unknown, rules: ValueRules): ValueResult {
  if (field.collection) return readCollection(field, json, rules);
  if (json === null || json === undefined) return valid(null);
  switch (field.type.kind) {
    case 'string':
      return readString(field, json, rules);
    case 'integer':
      return rules.bounded ? readInteger(json, field.type.digits) : readNumber(json);
    case 'decimal':
      return rules.bounded ? readDecimal(json, field.type.precision, field.type.scale) : readNumber(json);
    case 'boolean':
      return typeof json === 'boolean'
        ? valid(json)
        : invalid(`is ${shortJson(json)}, but takes true or false`);
    case 'date': {
      const date = typeof json === 'string' ? canonicalDate(json) : undefined;
      return date === undefined ? invalid(`is ${shortJson(json)}, but takes a date YYYY-MM-DD`) : valid(date);
    }
    case 'timestamp': {
      const timestamp = typeof json === 'string' ? canonicalTimestamp(json) : undefined;
      if (hasExcessDecimals(json)) return invalid(`is ${shortJson(json)}, but takes at most six decimals`);
      if (timestamp !== undefined) return valid(timestamp);
      return invalid(
        `is ${shortJson(json)}, but takes a timestamp with a zone, such as 2024-05-01T12:00:00Z`,
      );
    }
  }
}

/** Whether a timestamp has more decimals than plat stores. */
export const hasExcessDecimals = (json: unknown): json is string =>
  typeof json === 'string' &&
  json.length > 'YYYY-MM-DDThh:mm:ss.ffffffZ'.length &&
  EXCESS_DECIMALS.test(json);

const EXCESS_DECIMALS = /:\d\d\.\d{6}\d*[1-9]/;

/** Longer texts are cut in messages. */
const SHOWN = 60;

function shortJson(json: unknown): string {
  const text = JSON.stringify(json) ?? String(json);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

function readCollection(field: Field, json: unknown, rules: ValueRules): ValueResult {
  if (json === null || json === undefined) return valid([]);
  if (!Array.isArray(json)) return invalid(`is ${shortJson(json)}, but takes a list`);
  const values: string[] = [];
  for (const item of json) {
    const result = readString(field, item, rules);
    if (!result.ok) return result;
    if (typeof result.value === 'string') values.push(result.value);
  }
  return valid(values);
}

export function readString(field: Field, json: unknown, { lookup, bounded }: ValueRules): ValueResult {
  if (!bounded && isUnsafeInteger(json)) return invalid(`is ${shortJson(json)}, ${INEXACT}`);
  if (typeof json !== 'string') return invalid(`is ${shortJson(json)}, but takes a string`);
  if (!json.isWellFormed()) {
    const what = json.includes(NOT_UTF8)
      ? 'bytes that are not UTF-8'
      : 'half of a surrogate pair, which is not a character';
    return invalid(`contains ${what}`);
  }
  if (json.includes('\0')) return invalid('contains a NUL character');
  const limit = bounded && field.type.kind === 'string' ? field.type.maxLength : undefined;
  if (limit !== undefined && json.length > limit && characters(json) > limit) {
    return invalid(`has ${characters(json)} characters, but takes at most ${limit}`);
  }
  if (lookup === undefined) return valid(json);
  const known = lookup.spellings.get(json);
  if (known !== undefined) return valid(known);
  return lookup.closed
    ? invalid(`is ${shortJson(json)}, which is not a value of the closed lookup ${lookup.name}`)
    : valid(json);
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const INEXACT = 'which is beyond the precision of a number';

/** Whether a value is a whole number whose digits JSON may have lost: it was parsed without its text (exact-json.ts). */
export const isUnsafeInteger = (json: unknown): boolean =>
  Number.isInteger(json) && !Number.isSafeInteger(json);

export function readNumber(json: unknown): ValueResult {
  if (json instanceof LongNumber) return invalid(`is ${shortJson(json)}, ${INEXACT}`);
  if (typeof json !== 'number' || !Number.isFinite(json))
    return invalid(`is ${shortJson(json)}, but takes a number`);
  // The embedded engine cannot return it either.
  if (isUnsafeInteger(json)) return invalid(`is ${shortJson(json)}, ${INEXACT}`);
  return valid(json === 0 ? 0 : json);
}

/** Significant digits that a double always preserves. */
const EXACT_DIGITS = 15;

/** Whether a double loses digits of a number. @param source the number as it is written, in decimal */
export function losesDigits(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  const digits = significantDigits(source);
  if (value === 0) return digits !== '';
  return (
    digits.length > EXACT_DIGITS &&
    digits !== significantDigits(String(value)) &&
    digits !== significantDigits(value.toPrecision(Math.min(digits.length, MOST_PRECISE)))
  );
}

/** Whether a double loses only digits of the fraction beyond its precision; otherwise it is another number. */
export const losesOnlyFraction = (value: number): boolean =>
  value !== 0 && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** The most digits that `toPrecision` takes. */
const MOST_PRECISE = 100;

/** The digits of a number without sign, decimal point, exponent, and leading and trailing zeros. */
const significantDigits = (text: string): string =>
  text
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');

export function readInteger(json: unknown, digits: number | undefined): ValueResult {
  if (json instanceof LongNumber) return readNumber(json);
  if (typeof json !== 'number' || !Number.isInteger(json))
    return invalid(`is ${shortJson(json)}, but takes a whole number`);
  if (isUnsafeInteger(json)) return invalid(`is ${shortJson(json)}, ${INEXACT}`);
  if (digits !== undefined && digits < 16 && Math.abs(json) >= 10 ** digits) {
    return invalid(`is ${shortJson(json)}, but takes at most ${digits} digits`);
  }
  return valid(json === 0 ? 0 : json);
}

export function readDecimal(json: unknown, precision: number, scale: number): ValueResult {
  const number = readNumber(json);
  if (!number.ok || typeof json !== 'number') return number;
  if (Math.abs(json) >= 10 ** (precision - scale)) {
    return invalid(`is ${shortJson(json)}, but takes at most ${precision - scale} digits before the point`);
  }
  if (decimalsOf(json) > scale)
    return invalid(`is ${shortJson(json)}, but takes at most ${scale} digits after the point`);
  return number;
}

/** The number of digits after the point in the shortest text of a number. */
export function decimalsOf(number: number): number {
  if (Number.isInteger(number)) return 0;
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const point = mantissa.indexOf('.');
  return Math.max(0, (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent));
}
