/**
 * The SQL of the functions and casts of the query language, and of values as JSON text. This module has what all engines write in
 * the same way; each engine adds a table of its own. No argument is written twice, since nested functions would double the
 * statement at each level.
 */
import type { FunctionName, LikePart, ValueType } from '../query/tree.ts';
import { bind, join, type Sql, sql } from './fragment.ts';

/** The functions whose SQL differs by engine. */
type EngineFunction =
  | 'contains'
  | 'startswith'
  | 'length'
  | 'indexof'
  | 'trim'
  | 'dayofyear'
  | 'dayofweek'
  | 'totaloffsetminutes'
  | 'round'
  | 'floor'
  | 'ceiling';

/** The SQL of an engine's functions. Every argument is in the form in which columns store its type. */
export interface EngineFunctions extends Readonly<Record<EngineFunction, (first: Sql, second: Sql) => Sql>> {
  /** A text of ASCII characters in lower or upper case; null for any other. Absent if it takes as long as for any text. */
  readonly asciiInCase?: (to: 'lower' | 'upper', text: Sql) => Sql;
  /** The digits at a position of a text, counted from 1, as a number. */
  readonly digits: (text: Sql, from: number, length: number) => Sql;
  /** The part of a text from a position on, after a zero, as a number. */
  readonly fraction: (text: Sql, from: number) => Sql;
}

/** The value of a constant that counts characters from the beginning of a text, as nearly every start and length does. */
function characters({ parts: [only, more] }: Sql): number | undefined {
  const known = typeof only === 'object' && more === undefined ? only.bound : undefined;
  return typeof known === 'number' && known >= 0 && known < MOST_CHARACTERS ? Math.trunc(known) : undefined;
}

/** No text is longer. */
const MOST_CHARACTERS = 2 ** 30;

/** The engines' own function is many times faster than that of plat, but has another meaning if the start is negative. */
function substring(text: Sql, start: Sql, count: Sql = bind(MOST_CHARACTERS - 1)): Sql {
  const [from, most] = [characters(start), characters(count)];
  return from === undefined || most === undefined
    ? sql`plat_substring(${text}, ${start}, ${count})`
    : sql`substr(${text}, CAST(${bind(from + 1)} AS INTEGER), CAST(${bind(most)} AS INTEGER))`;
}

const COLUMN = /^"[^"]+"\."[^"]+"$/;

/** The text in lower or upper case. Only a column is written several times. */
function inCase({ asciiInCase }: EngineFunctions, to: 'lower' | 'upper', text: Sql): Sql {
  const changed = to === 'lower' ? sql`plat_lower(${text})` : sql`plat_upper(${text})`;
  const isColumn = COLUMN.test(text.parts.map((part) => (typeof part === 'string' ? part : '?')).join(''));
  return asciiInCase === undefined || !isColumn
    ? changed
    : sql`coalesce(${asciiInCase(to, text)}, ${changed})`;
}

/** Where the time of day begins in the text of a value: a time has no date before it. */
const timeOffset = (type: ValueType | undefined): number => (type === 'time' ? 1 : 12);

export const makeCall =
  (engine: EngineFunctions) =>
  (fn: FunctionName, given: readonly Sql[], types: readonly ValueType[]): Sql => {
    const [first = sql`NULL`, second = sql`NULL`, third] = given;
    const at = timeOffset(types[0]);
    switch (fn) {
      case 'endswith':
        return sql`plat_ends_with(${first}, ${second})`;
      case 'substring':
        return substring(first, second, third);
      case 'tolower':
        return inCase(engine, 'lower', first);
      case 'toupper':
        return inCase(engine, 'upper', first);
      case 'concat':
        return sql`(${join(given, ' || ')})`;
      case 'year':
        return engine.digits(first, 1, 4);
      case 'month':
        return engine.digits(first, 6, 2);
      case 'day':
        return engine.digits(first, 9, 2);
      case 'hour':
        return engine.digits(first, at, 2);
      case 'minute':
        return engine.digits(first, at + 3, 2);
      case 'second':
        return engine.digits(first, at + 6, 2);
      case 'fractionalseconds':
        return engine.fraction(first, at + 8);
      case 'date':
        return sql`substr(${first}, 1, 10)`;
      case 'time':
        return sql`substr(${first}, 12)`;
      case 'totalseconds':
        return first;
      case 'mindatetime':
        return bind('0001-01-01T00:00:00');
      case 'maxdatetime':
        return bind('9999-12-31T23:59:59.999');
      case 'now':
        throw new Error('now() is bound by the compiler');
      default:
        return engine[fn](first, second);
    }
  };

export interface EngineCasts {
  readonly fromText: (to: ValueType, value: Sql) => Sql;
  readonly fromNull: (to: ValueType, value: Sql) => Sql;
  readonly text: (from: ValueType, value: Sql) => Sql;
  readonly whole: (value: Sql) => Sql;
}

/** Converts a value to another type; null if it cannot be converted. */
export const makeCast =
  ({ fromText, fromNull, text, whole }: EngineCasts, nothing: (type: ValueType) => Sql) =>
  (from: ValueType, to: ValueType, value: Sql): Sql => {
    if (from === 'null') return fromNull(to, value);
    if (from === to) return value;
    if (from === 'string') return fromText(to, value);
    if (from === 'decimal' && to === 'integer') return whole(value);
    return CASTS[`${from} ${to}`]?.(value) ?? (to === 'string' ? text(from, value) : nothing(to));
  };

/** The casts that every engine writes in the same way, by the types from and to. */
const CASTS: Readonly<Record<string, (value: Sql) => Sql>> = {
  'integer string': (value) => sql`plat_number_text(${value})`,
  'decimal string': (value) => sql`plat_number_text(${value})`,
  'timestamp string': (value) => sql`(${value} || 'Z')`,
  'date timestamp': (value) => sql`(${value} || 'T00:00:00')`,
  'timestamp date': (value) => sql`substr(${value}, 1, 10)`,
  'timestamp time': (value) => sql`substr(${value}, 12)`,
  'integer decimal': (value) => value,
};

/** The SQL with which an engine writes values as JSON text: `null` for a null value, except for `seconds`, which stays null. */
export type JsonForms = Readonly<
  Record<'string' | 'date' | 'boolean' | 'integer' | 'decimal' | 'seconds', (value: Sql) => Sql>
>;

/** Writes a value of a type as JSON text; `null` if it is null. */
export const makeJson =
  (engine: JsonForms) =>
  (type: ValueType | 'collection', value: Sql): Sql => {
    switch (type) {
      case 'string':
      case 'date':
      case 'boolean':
      case 'integer':
      case 'decimal':
        return engine[type](value);
      case 'time':
        return engine.date(value);
      case 'timestamp':
        return sql`coalesce('"' || ${value} || 'Z"', 'null')`;
      case 'duration':
        return sql`coalesce('"PT' || ${engine.seconds(value)} || 'S"', 'null')`;
      case 'collection':
        return sql`coalesce(${value}, '[]')`;
      case 'null':
      case 'point':
      case 'polygon':
        return sql`'null'`;
    }
  };

/** The characters that `trim` removes: all that Unicode calls white space. */
export const WHITE_SPACE = bind(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

/** How an engine writes patterns with wildcards. */
interface Wildcards {
  readonly any: string;
  readonly one: string;
  /** The characters that are escaped, and a replacement that escapes one. */
  readonly special: RegExp;
  readonly escaped: string;
}

export const wildcardText = (
  pattern: readonly LikePart[],
  { any, one, special, escaped }: Wildcards,
): string =>
  pattern
    .map((part) => {
      if (part.kind === 'text') return part.text.replace(special, escaped);
      return part.kind === 'any' ? any : one;
    })
    .join('');
