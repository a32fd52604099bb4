/** The functions of `_filter`: what they take, and what they come to. */
import type { ClockFunction, FieldFunction, Pattern, ScalarType } from './nodes.ts';

/** `field` stands for a field or a function of one whose own result fits the other types. */
type ArgumentType = ScalarType | 'field';

interface Takes {
  readonly takes: readonly (readonly ArgumentType[])[];
  /** How many of the last arguments may be left out. */
  readonly optional?: number;
}

export type ShapeFunction = 'radius' | 'polygon' | 'rectangle' | 'linestring' | 'wkt';

/** How a function is worked out; `field` ones also on literals, the others stand on the right side only. */
export type FunctionRule = Takes &
  (
    | { readonly kind: 'field'; readonly name: FieldFunction; readonly gives: ScalarType | 'cast' | 'all' }
    | { readonly kind: 'clock'; readonly name: ClockFunction; readonly gives: 'date' | 'datetime' }
    | { readonly kind: 'instant'; readonly text: string }
    | { readonly kind: 'pattern'; readonly name: Pattern['form'] }
    | { readonly kind: 'range' }
    | { readonly kind: 'shape'; readonly name: ShapeFunction }
  );

const TEXT: readonly ArgumentType[] = ['field', 'character'];
const DAY: readonly ArgumentType[] = ['field', 'datetime', 'date'];
const MOMENT: readonly ArgumentType[] = ['field', 'datetime'];
const DECIMAL: readonly ArgumentType[] = ['field', 'decimal'];

const field = (
  name: FieldFunction,
  gives: ScalarType | 'cast' | 'all',
  takes: Takes['takes'],
  optional = 0,
): readonly [string, FunctionRule] => [name, { kind: 'field', name, gives, takes, optional }];
const clock = (name: ClockFunction, gives: 'date' | 'datetime'): readonly [string, FunctionRule] => [
  name,
  { kind: 'clock', name, gives, takes: name === 'now' ? [] : [['integer']] },
];
const pattern = (
  name: Pattern['form'],
  takes: Takes['takes'],
  optional = 0,
): readonly [string, FunctionRule] => [name, { kind: 'pattern', name, takes, optional }];
const shape = (name: ShapeFunction, takes: Takes['takes']): readonly [string, FunctionRule] => [
  name,
  { kind: 'shape', name, takes },
];

export const FUNCTIONS: ReadonlyMap<string, FunctionRule> = new Map([
  field('all', 'all', [['field']]),
  field('tolower', 'character', [TEXT]),
  field('toupper', 'character', [TEXT]),
  field('trim', 'character', [TEXT]),
  field('length', 'integer', [TEXT]),
  field('substring', 'character', [TEXT, ['integer'], ['integer']], 1),
  field('indexof', 'integer', [TEXT, ['character']]),
  field('concat', 'character', [TEXT, ['character']]),
  field('cast', 'cast', [['field', 'character', 'decimal', 'integer', 'null'], ['character']]),
  field('round', 'integer', [DECIMAL]),
  field('ceiling', 'integer', [DECIMAL]),
  field('floor', 'integer', [DECIMAL]),
  field('date', 'date', [DAY]),
  field('time', 'time', [MOMENT]),
  field('year', 'integer', [DAY]),
  field('month', 'integer', [DAY]),
  field('day', 'integer', [DAY]),
  field('hour', 'integer', [MOMENT]),
  field('minute', 'integer', [MOMENT]),
  field('second', 'integer', [MOMENT]),
  field('fractionalseconds', 'decimal', [MOMENT]),
  field('dayofyear', 'integer', [DAY]),
  field('dayofweek', 'integer', [DAY]),
  clock('now', 'datetime'),
  clock('seconds', 'datetime'),
  clock('minutes', 'datetime'),
  clock('hours', 'datetime'),
  clock('days', 'date'),
  clock('weekdays', 'date'),
  clock('months', 'date'),
  clock('years', 'date'),
  ['mindatetime', { kind: 'instant', text: '1970-01-01T00:00:00Z', takes: [] }],
  ['maxdatetime', { kind: 'instant', text: '9999-12-31T23:59:59Z', takes: [] }],
  pattern('regex', [['character'], ['character']], 1),
  pattern('startswith', [['character']]),
  pattern('endswith', [['character']]),
  pattern('contains', [['character']]),
  ['range', { kind: 'range', takes: [['character'], ['character']] }],
  shape('radius', [['character'], ['decimal', 'integer']]),
  shape('polygon', [['character']]),
  shape('rectangle', [['character']]),
  shape('linestring', [['character']]),
  shape('wkt', [['character']]),
]);

const CAST_TYPES = ['character', 'decimal', 'integer'] as const;
export type CastType = (typeof CAST_TYPES)[number];

export const castType = (text: string): CastType | undefined => CAST_TYPES.find((type) => type === text);

/** The furthest that `days` and `weekdays` count. */
export const FURTHEST_DAYS = 365_000;
