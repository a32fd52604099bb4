/**
 * The functions of `_filter`, in one table: their parameters, their results, and their values for literals. This module knows
 * neither the grammar nor particular fields.
 */
import { canonicalDate } from '../../dictionary/index.ts';
import type { FunctionName, ValueType } from '../tree.ts';
import { toDecimal, toInteger } from './decimal.ts';

/** The types of literals. */
export type ScalarType =
  | 'integer'
  | 'decimal'
  | 'character'
  | 'date'
  | 'datetime'
  | 'time'
  | 'boolean'
  | 'null';

/** The types of fields, and of functions of fields. */
export type SideType = Exclude<ValueType, 'duration' | 'point' | 'polygon' | 'null'>;

/** The type of a field whose values are literals of the given type. */
export const SIDE_TYPES = {
  integer: 'integer',
  decimal: 'decimal',
  character: 'string',
  date: 'date',
  datetime: 'timestamp',
  time: 'time',
  boolean: 'boolean',
} as const satisfies Readonly<Record<Exclude<ScalarType, 'null'>, SideType>>;

/** What a function of fields accepts as its first argument: literals and fields of these types. */
interface Subject {
  readonly literals: readonly ScalarType[];
  readonly fields: readonly SideType[];
  readonly inWords: string;
}

interface FieldRule {
  readonly name: FunctionName;
  readonly of: Subject;
  /** The types of the arguments after the first. */
  readonly rest?: readonly (readonly ScalarType[])[];
  /** How many of the last arguments may be omitted. */
  readonly optional?: number;
  readonly gives: Exclude<ScalarType, 'null'>;
  /** The result for literal arguments; undefined if it would be a date that does not exist. */
  readonly fold: (first: string, rest: readonly string[]) => string | undefined;
}

const TEXT: Subject = { literals: ['character'], fields: ['string'], inWords: 'a text' };
const NUMBER: Subject = { literals: ['decimal'], fields: ['integer', 'decimal'], inWords: 'a number' };
const DAY: Subject = {
  literals: ['datetime', 'date'],
  fields: ['date', 'timestamp'],
  inWords: 'a date or a timestamp',
};
const MOMENT: Subject = { literals: ['datetime'], fields: ['timestamp'], inWords: 'a timestamp' };

/** The parts of a date or timestamp as written, in the zone of the literal. */
interface Parts {
  readonly date: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
  readonly fraction: string | undefined;
}

const PARTS = /^(\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?/;

const ofTime =
  (give: (parts: Parts) => string) =>
  (literal: string): string | undefined => {
    const [, day = '', hour = '00', minute = '00', second = '00', fraction] = PARTS.exec(literal) ?? [];
    const date = canonicalDate(day);
    return date === undefined ? undefined : give({ date, hour, minute, second, fraction });
  };
const wholeNumberText = (digits: string): string => String(Number(digits));
const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`);

const DAY_IN_MILLISECONDS = 86_400_000;
const EDGES = /^[\0\t\n\v\f\r ]+|[\0\t\n\v\f\r ]+$/g;

/** Functions of one field. Positions in texts count from 0, in characters. Sunday is day 0; January 1 is day 1. */
const FIELD_FUNCTIONS: readonly FieldRule[] = [
  { name: 'tolower', of: TEXT, gives: 'character', fold: (text) => text.toLowerCase() },
  { name: 'toupper', of: TEXT, gives: 'character', fold: (text) => text.toUpperCase() },
  { name: 'trim', of: TEXT, gives: 'character', fold: (text) => text.replace(EDGES, '') },
  { name: 'length', of: TEXT, gives: 'integer', fold: (text) => String([...text].length) },
  {
    name: 'substring',
    of: TEXT,
    rest: [['integer'], ['integer']],
    optional: 1,
    gives: 'character',
    fold: (text, [start, count]) => {
      const end = count === undefined ? undefined : Number(start) + Number(count);
      return [...text].slice(Number(start), end).join('');
    },
  },
  {
    name: 'indexof',
    of: TEXT,
    rest: [['character']],
    gives: 'integer',
    fold: (text, [part = '']) => {
      const units = text.indexOf(part);
      return String(units < 0 ? -1 : [...text.slice(0, units)].length);
    },
  },
  {
    name: 'concat',
    of: TEXT,
    rest: [['character']],
    gives: 'character',
    fold: (text, [end = '']) => text + end,
  },
  { name: 'round', of: NUMBER, gives: 'integer', fold: (text) => toInteger(text, 'round') },
  { name: 'ceiling', of: NUMBER, gives: 'integer', fold: (text) => toInteger(text, 'ceiling') },
  { name: 'floor', of: NUMBER, gives: 'integer', fold: (text) => toInteger(text, 'floor') },
  { name: 'date', of: DAY, gives: 'date', fold: ofTime(({ date }) => date) },
  {
    name: 'time',
    of: MOMENT,
    gives: 'time',
    fold: ofTime(({ hour, minute, second, fraction }) => {
      const clock = `${hour}:${minute}:${second}`;
      return fraction === undefined ? clock : `${clock}.${fraction}`;
    }),
  },
  { name: 'year', of: DAY, gives: 'integer', fold: ofTime(({ date }) => wholeNumberText(date.slice(0, 4))) },
  { name: 'month', of: DAY, gives: 'integer', fold: ofTime(({ date }) => wholeNumberText(date.slice(5, 7))) },
  { name: 'day', of: DAY, gives: 'integer', fold: ofTime(({ date }) => wholeNumberText(date.slice(8))) },
  { name: 'hour', of: MOMENT, gives: 'integer', fold: ofTime(({ hour }) => wholeNumberText(hour)) },
  { name: 'minute', of: MOMENT, gives: 'integer', fold: ofTime(({ minute }) => wholeNumberText(minute)) },
  { name: 'second', of: MOMENT, gives: 'integer', fold: ofTime(({ second }) => wholeNumberText(second)) },
  {
    name: 'fractionalseconds',
    of: MOMENT,
    gives: 'decimal',
    fold: ofTime(({ fraction = '0' }) => `0.${fraction}`),
  },
  {
    name: 'dayofyear',
    of: DAY,
    gives: 'integer',
    fold: ofTime(({ date }) => {
      const since = midnight(date) - midnight(`${date.slice(0, 4)}-01-01`);
      return String(since / DAY_IN_MILLISECONDS + 1);
    }),
  },
  {
    name: 'dayofweek',
    of: DAY,
    gives: 'integer',
    fold: ofTime(({ date }) => String(new Date(midnight(date)).getUTCDay())),
  },
];

/** Functions that return a moment or day relative to the time of the request. */
const CLOCK_FUNCTIONS = [
  ['now', 'datetime'],
  ['seconds', 'datetime'],
  ['minutes', 'datetime'],
  ['hours', 'datetime'],
  ['days', 'date'],
  ['weekdays', 'date'],
  ['months', 'date'],
  ['years', 'date'],
] as const;

const SHAPES = ['radius', 'polygon', 'rectangle', 'linestring', 'wkt'] as const;
const PATTERNS = ['regex', 'startswith', 'endswith', 'contains'] as const;

export type FieldFunction = FunctionName | 'all' | 'cast';
export type ClockFunction = (typeof CLOCK_FUNCTIONS)[number][0];
export type ShapeFunction = (typeof SHAPES)[number];
export type PatternFunction = (typeof PATTERNS)[number];

/** `field` means a field, or a function of a field whose result fits the other types. */
type ArgumentType = ScalarType | 'field';

/** How a function is evaluated. Functions of fields also accept literals; the others are allowed only on the right side. */
export type FunctionRule = {
  readonly takes: readonly (readonly ArgumentType[])[];
  /** As in `FieldRule`. */
  readonly optional?: number;
} & (
  | ({ readonly kind: 'field' } & FieldRule)
  /** `all(field)`: the field has each value of the list. */
  | { readonly kind: 'all' }
  | { readonly kind: 'cast' }
  | { readonly kind: 'clock'; readonly name: ClockFunction; readonly gives: 'date' | 'datetime' }
  | { readonly kind: 'instant'; readonly text: string }
  | { readonly kind: 'pattern'; readonly name: PatternFunction }
  | { readonly kind: 'range' }
  | { readonly kind: 'shape'; readonly name: ShapeFunction }
);

const CHARACTER: readonly ArgumentType[] = ['character'];

const ALL: FunctionRule = { kind: 'all', takes: [['field']] };
const CAST: FunctionRule = {
  kind: 'cast',
  takes: [['field', 'character', 'decimal', 'integer', 'null'], CHARACTER],
};
const instant = (text: string): FunctionRule => ({ kind: 'instant', text, takes: [] });

const FUNCTION_LIST: readonly (readonly [string, FunctionRule])[] = [
  ['all', ALL],
  ...FIELD_FUNCTIONS.map((rule): [string, FunctionRule] => {
    const takes: readonly (readonly ArgumentType[])[] = [
      ['field', ...rule.of.literals],
      ...(rule.rest ?? []),
    ];
    return [rule.name, { kind: 'field', ...rule, takes }];
  }),
  ['cast', CAST],
  ...CLOCK_FUNCTIONS.map(([name, gives]): [string, FunctionRule] => {
    return [name, { kind: 'clock', name, gives, takes: name === 'now' ? [] : [['integer']] }];
  }),
  ['mindatetime', instant('1970-01-01T00:00:00Z')],
  ['maxdatetime', instant('9999-12-31T23:59:59Z')],
  ...PATTERNS.map((name): [string, FunctionRule] => {
    const flags = name === 'regex' ? { takes: [CHARACTER, CHARACTER], optional: 1 } : { takes: [CHARACTER] };
    return [name, { kind: 'pattern', name, ...flags }];
  }),
  ['range', { kind: 'range', takes: [CHARACTER, CHARACTER] }],
  ...SHAPES.map((name): [string, FunctionRule] => {
    const takes: FunctionRule['takes'] =
      name === 'radius' ? [CHARACTER, ['decimal', 'integer']] : [CHARACTER];
    return [name, { kind: 'shape', name, takes }];
  }),
];

/** Every function by its name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionRule> = new Map(FUNCTION_LIST);

const CAST_TYPES = ['character', 'decimal', 'integer'] as const;
type CastType = (typeof CAST_TYPES)[number];

export const castType = (text: string): CastType | undefined => CAST_TYPES.find((type) => type === text);

const NUMERAL = /^\s*([+-]?)(\d+(?:\.\d+)?(?:[Ee][+-]?\d{1,3})?)\s*$/;

/** A literal in another type; null if the type has no such value. */
export function foldCast(
  value: { readonly type: ScalarType; readonly text: string },
  to: CastType,
): { readonly type: ScalarType; readonly text: string } {
  const { type, text } = value;
  if (to === 'character') {
    return { type: to, text: type === 'null' ? '' : type === 'decimal' ? toDecimal(text) : text };
  }
  if (type === 'null') return { type: to, text: to === 'integer' ? '0' : '0.0' };
  const [, sign = '', digits] = NUMERAL.exec(text) ?? [];
  if (digits === undefined || !Number.isFinite(Number(digits))) return { type: 'null', text: 'NULL' };
  const number = `${sign === '-' ? '-' : ''}${digits.replace('+', '')}`;
  return { type: to, text: to === 'integer' ? toInteger(number, 'truncate') : toDecimal(number) };
}
