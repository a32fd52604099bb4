/**
 * The values of OData: the types of expressions and which of them can be combined, the syntax and meaning of literals, and the
 * tables of functions and Edm types. This module knows no fields by name and no expression syntax.
 */
import { fractionText } from '../../dictionary/index.ts';
import type { Field } from '../../dictionary/types.ts';
import {
  type ArithmeticOperator,
  type Expression,
  type FunctionName,
  type Literal,
  type Point,
  typeOf,
  type ValueType,
} from '../tree.ts';
import { isRing, readWellKnownText, type WellKnownShape } from '../well-known-text.ts';
import type { LiteralText } from './nodes.ts';
import { notProvided, type OptionText, shown, syntaxError, typeMismatch } from './option-text.ts';

// Types

/** The type of one value of a field. A decimal without decimal places is an integer. */
export function fieldType({ type }: Field): ValueType {
  return type.kind === 'decimal' && type.scale === 0 ? 'integer' : type.kind;
}

export const isNumber = (type: ValueType): boolean => type === 'integer' || type === 'decimal';
const isMoment = (type: ValueType): boolean => type === 'date' || type === 'timestamp';
/** Whether a type is that of a geography literal. No field has such a type. */
export const isShape = (type: ValueType): type is 'point' | 'polygon' =>
  type === 'point' || type === 'polygon';

const TYPE_NAMES: Readonly<Record<ValueType, string>> = {
  string: 'a string',
  integer: 'an integer',
  decimal: 'a decimal',
  boolean: 'a boolean',
  date: 'a date',
  timestamp: 'a timestamp',
  time: 'a time of day',
  duration: 'a duration',
  point: 'a point',
  polygon: 'a polygon',
  null: 'null',
};

export const describeType = (type: ValueType): string => TYPE_NAMES[type];

/** An expression in messages, with its own name if it has one: "ListPrice (a decimal)". */
export function describeExpression(expression: Expression): string {
  const words = TYPE_NAMES[typeOf(expression)];
  switch (expression.kind) {
    case 'field':
      return `${[...expression.via, expression.field].map(({ name }) => name).join('/')} (${words})`;
    case 'literal':
      return expression.type === 'string'
        ? `'${shown(expression.value).replaceAll("'", "''")}' (a string)`
        : words;
    default:
      return words;
  }
}

export const NULL: Literal = { kind: 'literal', type: 'null', value: null };

/** A value as a timestamp; a date becomes its midnight in UTC. */
function asTimestamp(expression: Expression): Expression {
  if (typeOf(expression) !== 'date') return expression;
  return expression.kind === 'literal' && expression.type === 'date'
    ? { kind: 'literal', type: 'timestamp', value: `${expression.value}T00:00:00Z` }
    : { kind: 'cast', type: 'timestamp', operand: expression };
}

/** A duration without its prefix, which is optional (OData 4.01 URL conventions, 5.1.1.14.1); undefined for anything else. */
export function asDuration(expression: Expression): Literal | undefined {
  if (expression.kind !== 'literal' || expression.type !== 'string') return undefined;
  const seconds = durationSeconds(expression.value);
  return Number.isFinite(seconds) ? { kind: 'literal', type: 'duration', value: seconds } : undefined;
}

/** Converts a value to a type of the same family; undefined if it does not fit. Null fits every type. */
export function convertTo(expression: Expression, target: ValueType): Expression | undefined {
  const type = typeOf(expression);
  if (type === target || type === 'null' || (isNumber(type) && isNumber(target))) return expression;
  if (target === 'timestamp' && type === 'date') return asTimestamp(expression);
  return target === 'duration' ? asDuration(expression) : undefined;
}

/** The type in which values of two types are compared; undefined if they cannot be compared. */
export function commonType(left: ValueType, right: ValueType): ValueType | undefined {
  if (left === right || right === 'null') return left;
  if (left === 'null') return right;
  if (isNumber(left) && isNumber(right)) return 'decimal';
  if (isMoment(left) && isMoment(right)) return 'timestamp';
  if (left === 'duration' && right === 'string') return left;
  return left === 'string' && right === 'duration' ? right : undefined;
}

/** Two values in their common type; undefined if they have none. */
export function align(left: Expression, right: Expression): readonly [Expression, Expression] | undefined {
  const common = commonType(typeOf(left), typeOf(right));
  if (common === undefined) return undefined;
  const [one, other] = [convertTo(left, common), convertTo(right, common)];
  return one && other && [one, other];
}

/**
 * Converts operands of arithmetic: beside a date or time, a string may be a duration; beside a timestamp, a date is its midnight.
 */
export function alignOperands(left: Expression, right: Expression): readonly [Expression, Expression] {
  const types = [typeOf(left), typeOf(right)];
  if (types.includes('date') && types.includes('timestamp')) return [asTimestamp(left), asTimestamp(right)];
  if (types.includes('string')) return [asDuration(left) ?? left, asDuration(right) ?? right];
  return [left, right];
}

/** The type of the result of arithmetic (5.1.1.2); undefined if the operator does not accept these types. */
export function arithmeticType(
  operator: ArithmeticOperator,
  left: ValueType,
  right: ValueType,
): ValueType | undefined {
  // Arithmetic with null is null, in the type that fits the other side.
  const typeBesideNull = (type: ValueType): ValueType => (isMoment(type) ? 'duration' : type);
  if (left === 'null')
    return right === 'null' ? 'null' : arithmeticType(operator, typeBesideNull(right), right);
  if (right === 'null') return arithmeticType(operator, left, typeBesideNull(left));
  if (isNumber(left) && isNumber(right)) {
    return operator !== 'divby' && left === 'integer' && right === 'integer' ? 'integer' : 'decimal';
  }
  switch (operator) {
    case 'add':
      if (right === 'duration' && (left === 'duration' || isMoment(left))) return left;
      return left === 'duration' && isMoment(right) ? right : undefined;
    case 'sub':
      if (right === 'duration' && (left === 'duration' || isMoment(left))) return left;
      return left === right && isMoment(left) ? 'duration' : undefined;
    case 'mul':
      if (left === 'duration' && isNumber(right)) return left;
      return isNumber(left) && right === 'duration' ? right : undefined;
    case 'div':
    case 'divby':
      return left === 'duration' && isNumber(right) ? left : undefined;
    case 'mod':
      return undefined;
  }
}

/** Whether `cast` converts one type to another (5.1.1.10.1). */
export function castable(from: ValueType, to: ValueType): boolean {
  if (isShape(from)) return false;
  if (from === to || from === 'null') return true;
  if (from === 'duration' || to === 'duration') return false;
  if (from === 'string' || to === 'string') return true;
  if (isNumber(from)) return isNumber(to);
  if (from === 'date') return to === 'timestamp';
  return from === 'timestamp' && (to === 'date' || to === 'time');
}

// The syntax of literals

const DATE = '-?(?:0\\d{3}|[1-9]\\d{3,})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const HOUR = '(?:[01]\\d|2[0-3])';
const TIME = `${HOUR}:[0-5]\\d(?::(?:[0-5]\\d|60)(?:\\.\\d{1,12})?)?`;
const IS_DATE = new RegExp(`^${DATE}$`);
const IS_TIME = new RegExp(`^${TIME}$`);
const IS_TIMESTAMP = new RegExp(`^${DATE}T${TIME}(?:Z|[+-]${HOUR}:[0-5]\\d)$`, 'i');
const DURATION = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i;
const IS_BINARY = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]=?|[\w-][AQgw](?:==)?)?$/;

/** The characters that dates, times and numbers begin with. */
const NUMERIC = '0123456789+-';
const GUID_AHEAD = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/iy;
/** Anything that looks like a date, so that a malformed one is reported as such. */
const DATE_AHEAD = /-?\d+-\d+-\d+(?:T[\d:.]*(?:Z|[+-][\d:]+)?)?/iy;
const TIME_AHEAD = /\d\d:\d\d(?::\d\d(?:\.\d+)?)?/y;
const NUMBER_AHEAD = /[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const SPECIAL_AHEAD = /(?:-?INF|NaN)(?!\w)/y;
const BRANCH_END_AHEAD = /\s*[,)]/y;

/** The text that a sticky pattern matches at an offset. */
export function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

const SPACE = /[ \t\r\n]*/y;

/** The offset of the next character that is not white space. */
export const skipSpace = (text: string, offset: number): number =>
  offset + (matchAt(SPACE, text, offset)?.length ?? 0);

const CLOSING_QUOTE = "a closing ' (a quote inside a string is written '')";

/**
 * Reads `'…'` at an offset: its text and its end.
 * @throws syntax when it is not closed
 */
export function readQuoted(source: OptionText, offset: number): { text: string; end: number } {
  const { text } = source;
  let quote = text.indexOf("'", offset + 1);
  while (quote !== -1 && text[quote + 1] === "'") quote = text.indexOf("'", quote + 2);
  if (quote === -1) throw syntaxError(source, offset, 'a string that is not closed', CLOSING_QUOTE);
  return { text: text.slice(offset + 1, quote).replaceAll("''", "'"), end: quote + 1 };
}

interface ReadLiteral {
  readonly literal: LiteralText;
  readonly end: number;
}

/**
 * Reads a number, date, time or guid at an offset; undefined if none begins there.
 *
 * @param splitTimes whether this is the condition of a `case` branch, in which `10:20,` is a number, a colon and a number
 */
export function readBareLiteral(
  source: OptionText,
  offset: number,
  splitTimes: boolean,
): ReadLiteral | undefined {
  const { text } = source;
  const makeLiteral = (
    form: 'guid' | 'date' | 'time' | 'timestamp' | 'special',
    found: string,
  ): ReadLiteral => ({
    literal: { form, text: found },
    end: offset + found.length,
  });
  const guid = matchAt(GUID_AHEAD, text, offset);
  if (guid !== undefined) return makeLiteral('guid', guid);
  const special = matchAt(SPECIAL_AHEAD, text, offset);
  if (special !== undefined) return makeLiteral('special', special);
  if (!NUMERIC.includes(text[offset] ?? '')) return undefined;
  const date = matchAt(DATE_AHEAD, text, offset);
  if (date !== undefined) {
    if (IS_DATE.test(date)) return makeLiteral('date', date);
    if (IS_TIMESTAMP.test(date)) return makeLiteral('timestamp', date);
    const expected = /[Tt]/.test(date)
      ? 'a date and time with its zone, such as 2024-05-31T08:30:00Z (write + as %2B)'
      : 'a date, such as 2024-05-31';
    throw syntaxError(source, offset, shown(date), expected);
  }
  const time = matchAt(TIME_AHEAD, text, offset);
  if (time !== undefined && !(splitTimes && matchAt(BRANCH_END_AHEAD, text, offset + time.length))) {
    if (IS_TIME.test(time)) return makeLiteral('time', time);
    throw syntaxError(source, offset, shown(time), 'a time of day, such as 08:30:00');
  }
  const number = matchAt(NUMBER_AHEAD, text, offset);
  if (number === undefined) return undefined;
  const form = /^[+-]?\d+$/.test(number) ? 'integer' : 'decimal';
  return { literal: { form, text: number }, end: offset + number.length };
}

/**
 * Reads the quoted part of a prefixed literal, such as `duration'P1D'` or `Namespace.Type'Active'`.
 * @param quote offset of the opening quote
 */
export function readPrefixedLiteral(source: OptionText, prefix: string, quote: number): ReadLiteral {
  const { text, end } = readQuoted(source, quote);
  const wrong = (expected: string) => syntaxError(source, quote, `'${shown(text)}'`, expected);
  const form = prefix.toLowerCase();
  switch (form) {
    case 'duration':
      if (!DURATION.test(text)) throw wrong('a duration, such as P1DT12H');
      return { literal: { form, text }, end };
    case 'binary':
      if (!IS_BINARY.test(text)) throw wrong('base64url text');
      return { literal: { form, text }, end };
    case 'geography':
    case 'geometry': {
      const shape = readWellKnownText(text);
      if (shape === undefined) throw wrong('a shape, such as SRID=4326;POINT(-122.4 37.7)');
      return { literal: { form, shape }, end };
    }
    default:
      if (text === '') throw wrong(`a value of ${shown(prefix)}`);
      return { literal: { form: 'enumeration', type: prefix, text }, end };
  }
}

// The values of literals

/** The approximate number of characters of a literal in the request. */
export const lengthOf = (literal: LiteralText): number =>
  'text' in literal ? literal.text.length : 16 * literal.shape.areas.flat(2).length;

/**
 * The value of a literal, in the canonical form of the tree.
 *
 * @throws typeMismatch for a date that the calendar does not have, or a number or shape out of range; notImplemented for forms that
 * no field has
 */
export function literalValue(source: OptionText, start: number, literal: LiteralText): Literal {
  const mismatch = (reason: string) => typeMismatch(source, start, reason);
  switch (literal.form) {
    case 'null':
      return NULL;
    case 'boolean':
      return { kind: 'literal', type: 'boolean', value: literal.text === 'true' };
    case 'integer':
    case 'decimal': {
      const number = Number(literal.text);
      if (!Number.isFinite(number)) throw mismatch(`${shown(literal.text)} is too large a number`);
      // Adding zero turns -0 into 0, which is the same number in every comparison.
      return { kind: 'literal', type: literal.form, value: number + 0 };
    }
    case 'special':
      throw notProvided(source, start, `the number ${literal.text}`);
    case 'string':
    case 'enumeration':
      return { kind: 'literal', type: 'string', value: literal.text };
    case 'guid':
      throw mismatch(`no field here is a guid; write '${literal.text}' for a string`);
    case 'binary':
      throw notProvided(source, start, 'binary data');
    case 'date': {
      const value = canonicalDate(literal.text);
      if (value === undefined) throw mismatch(`${shown(literal.text)} is not a date of the years 0 to 9999`);
      return { kind: 'literal', type: 'date', value };
    }
    case 'timestamp': {
      const value = canonicalTimestamp(literal.text);
      if (value === undefined)
        throw mismatch(`${shown(literal.text)} is not a timestamp of the years 0 to 9999`);
      return { kind: 'literal', type: 'timestamp', value };
    }
    case 'time':
      return { kind: 'literal', type: 'time', value: canonicalTime(literal.text) };
    case 'duration': {
      const value = durationSeconds(literal.text);
      if (!Number.isFinite(value)) throw mismatch(`${shown(literal.text)} is too long a duration`);
      return { kind: 'literal', type: 'duration', value };
    }
    case 'geography':
      return shapeValue(source, start, literal.shape);
    case 'geometry':
      throw notProvided(source, start, 'a geometry (write geography)');
  }
}

/** WGS 84 in degrees, the coordinate system of Latitude and Longitude. */
const SRID = 4326;

function shapeValue(source: OptionText, start: number, { kind, srid, areas }: WellKnownShape): Literal {
  if (srid !== undefined && srid !== SRID) {
    throw notProvided(source, start, `the reference system SRID=${srid} (write SRID=${SRID})`);
  }
  const [ring = [], hole] = areas[0] ?? [];
  const checked = ({ longitude, latitude }: Point): Point => {
    if (Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90) return { longitude, latitude };
    const reason = `the point ${longitude} ${latitude} is not on the globe: longitude comes first`;
    throw typeMismatch(source, start, reason);
  };
  const [first] = ring;
  if (kind === 'point' && first) return { kind: 'literal', type: 'point', value: checked(first) };
  if (kind !== 'polygon') throw notProvided(source, start, `a ${kind}`);
  if (hole !== undefined) throw notProvided(source, start, 'a polygon with holes');
  const points = ring.map(checked);
  if (!isRing(points)) {
    const reason = 'a polygon has at least four points, and the last equals the first';
    throw typeMismatch(source, start, reason);
  }
  return { kind: 'literal', type: 'polygon', value: points };
}

/** `YYYY-MM-DD`; undefined if the calendar has no such day, or its year does not have four digits. */
function canonicalDate(text: string): string | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? text : undefined;
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))$/i;

/**
 * `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`, converted to UTC, with its fraction in the form of stored timestamps. A leap second becomes the
 * first second of the next minute. Undefined if the calendar has no such day, or it lies outside the years 0 to 9999 in UTC.
 */
function canonicalTimestamp(text: string, digits?: number): string | undefined {
  const match = TIMESTAMP.exec(text);
  const date = canonicalDate(match?.[1] ?? '');
  if (!match || date === undefined) return undefined;
  const [, , hour, minute, second = '0', fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  const moment = new Date(`${date}T00:00:00Z`);
  moment.setUTCHours(Number(hour), Number(minute) - offset, Number(second));
  const iso = moment.toISOString();
  return /^\d{4}-/.test(iso) ? `${iso.slice(0, 19)}${fractionText(fraction, digits)}Z` : undefined;
}

/**
 * Converts a timestamp that is the argument of a function of its parts, which are those in the zone in which it is written
 * (5.1.1.8): to the same day and time of day in UTC.
 */
export function inOwnZone(literal: Literal, written: string): Literal {
  const value = canonicalTimestamp(written.replace(ZONE, 'Z'));
  return literal.type !== 'timestamp' || value === undefined ? literal : { ...literal, value };
}

/** The minutes between UTC and the zone in which a timestamp is written. */
export function zoneOffset(written: string): number {
  const [, sign, hours = '0', minutes = '0'] = ZONE.exec(written) ?? [];
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' && offset > 0 ? -offset : offset;
}

const ZONE = /([+-])(\d\d):(\d\d)$/;

/** `HH:MM:SS[.ffffff]`. A leap second becomes the last second of its minute, so that the time stays on the same day. */
function canonicalTime(text: string, digits?: number): string {
  const [hour = '', minute = '', rest = '0'] = text.split(':');
  const [second = '', fraction = ''] = rest.split('.');
  const seconds = String(Math.min(59, Number(second))).padStart(2, '0');
  return `${hour}:${minute}:${seconds}${fractionText(fraction, digits)}`;
}

/** The number of fractional digits of a second that the grammar of OData allows. */
const ALL_DIGITS = 12;

/**
 * A literal in the form in which it is compared: a timestamp or time of day with all digits of its fraction. Stored values have at
 * most six digits, and compare with it as texts.
 * @param written the literal as written in the request
 */
export function exactLiteral(literal: Literal, written: string): Literal {
  switch (literal.type) {
    case 'timestamp':
      return { ...literal, value: canonicalTimestamp(written, ALL_DIGITS) ?? literal.value };
    case 'time':
      return { ...literal, value: canonicalTime(written, ALL_DIGITS) };
    default:
      return literal;
  }
}

/** Seconds of `[-]PnDTnHnMn.nS`; NaN for any other text. */
function durationSeconds(text: string): number {
  const match = DURATION.exec(text);
  if (!match) return Number.NaN;
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0'] = match;
  const total = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' && total !== 0 ? -total : total;
}

// Tables

/** The parameters and result of a canonical function. */
interface Signature {
  /** The types that each argument may have. */
  readonly takes: readonly (readonly ValueType[])[];
  /** The number of arguments at the end that are optional. */
  readonly optional?: number;
  readonly gives: ValueType | 'the type of the argument';
}

const TEXT: readonly ValueType[] = ['string'];
const WHOLE: readonly ValueType[] = ['integer'];
const NUMBER: readonly ValueType[] = ['integer', 'decimal'];
const DAY: readonly ValueType[] = ['date', 'timestamp'];
const CLOCK: readonly ValueType[] = ['timestamp', 'time'];
const MOMENT: readonly ValueType[] = ['timestamp'];

/** The canonical functions that are a single function of the tree, by clause of the OData 4.01 URL conventions. */
export const FUNCTIONS: Readonly<Record<Exclude<FunctionName, 'dayofyear' | 'dayofweek'>, Signature>> = {
  // 5.1.1.5, strings and collections
  concat: { takes: [TEXT, TEXT], gives: 'string' },
  contains: { takes: [TEXT, TEXT], gives: 'boolean' },
  endswith: { takes: [TEXT, TEXT], gives: 'boolean' },
  indexof: { takes: [TEXT, TEXT], gives: 'integer' },
  length: { takes: [TEXT], gives: 'integer' },
  startswith: { takes: [TEXT, TEXT], gives: 'boolean' },
  substring: { takes: [TEXT, WHOLE, WHOLE], optional: 1, gives: 'string' },
  // 5.1.1.7, strings
  tolower: { takes: [TEXT], gives: 'string' },
  toupper: { takes: [TEXT], gives: 'string' },
  trim: { takes: [TEXT], gives: 'string' },
  // 5.1.1.8, dates and times
  date: { takes: [MOMENT], gives: 'date' },
  day: { takes: [DAY], gives: 'integer' },
  fractionalseconds: { takes: [CLOCK], gives: 'decimal' },
  hour: { takes: [CLOCK], gives: 'integer' },
  maxdatetime: { takes: [], gives: 'timestamp' },
  mindatetime: { takes: [], gives: 'timestamp' },
  minute: { takes: [CLOCK], gives: 'integer' },
  month: { takes: [DAY], gives: 'integer' },
  now: { takes: [], gives: 'timestamp' },
  second: { takes: [CLOCK], gives: 'integer' },
  time: { takes: [MOMENT], gives: 'time' },
  totaloffsetminutes: { takes: [MOMENT], gives: 'integer' },
  totalseconds: { takes: [['duration']], gives: 'decimal' },
  year: { takes: [DAY], gives: 'integer' },
  // 5.1.1.9, arithmetic
  ceiling: { takes: [NUMBER], gives: 'the type of the argument' },
  floor: { takes: [NUMBER], gives: 'the type of the argument' },
  round: { takes: [NUMBER], gives: 'the type of the argument' },
};

/** A primitive Edm type that values here can have. */
export interface EdmType {
  readonly type: ValueType;
  /** The range of an integer type; a cast of a number outside it is null (5.1.1.10.1, rule 4). */
  readonly range?: readonly [number, number];
}

/**
 * The largest number of Edm.Int64 that a double represents exactly. The range excludes the lowest integer, because SQLite casts
 * every smaller number to it.
 */
const LARGEST = 2 ** 63 - 1024;

export const EDM_TYPES: ReadonlyMap<string, EdmType> = new Map<string, EdmType>([
  ['Edm.String', { type: 'string' }],
  ['Edm.Byte', { type: 'integer', range: [0, 255] }],
  ['Edm.SByte', { type: 'integer', range: [-128, 127] }],
  ['Edm.Int16', { type: 'integer', range: [-32_768, 32_767] }],
  ['Edm.Int32', { type: 'integer', range: [-2_147_483_648, 2_147_483_647] }],
  ['Edm.Int64', { type: 'integer', range: [-LARGEST, LARGEST] }],
  ['Edm.Decimal', { type: 'decimal' }],
  ['Edm.Double', { type: 'decimal' }],
  ['Edm.Single', { type: 'decimal' }],
  ['Edm.Boolean', { type: 'boolean' }],
  ['Edm.Date', { type: 'date' }],
  ['Edm.DateTimeOffset', { type: 'timestamp' }],
  ['Edm.TimeOfDay', { type: 'time' }],
  ['Edm.Duration', { type: 'duration' }],
]);
