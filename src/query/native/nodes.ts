/**
 * The syntax tree of a `_filter`, before its names are resolved. It is only data: the parser creates it, and the binder reads it.
 */
import type { ArithmeticWord } from './decimal.ts';
import type { ClockFunction, FieldFunction, PatternFunction, ScalarType } from './functions.ts';
import type { Geometry } from './shapes.ts';

/** A literal, or the result of arithmetic or functions on literals. The text of a `character` is without quotes. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  readonly text: string;
  readonly position: number;
}

/** A moment or day relative to the time of the request, which the binder knows. */
export interface Clock {
  readonly kind: 'clock';
  readonly type: 'date' | 'datetime';
  readonly function: ClockFunction;
  readonly count: number;
  readonly position: number;
}

/** A test of a text in place of a value: `City Eq startswith('Far')`. */
export interface Pattern {
  readonly kind: 'pattern';
  readonly type: 'character';
  readonly form: PatternFunction;
  readonly text: string;
  readonly ignoreCase: boolean;
  readonly position: number;
}

/** `range('M01','M04')`: the texts from the first to the second, inclusive. */
interface TextRange {
  readonly kind: 'range';
  readonly type: 'character';
  readonly from: string;
  readonly to: string;
  readonly position: number;
}

interface ShapeValue {
  readonly kind: 'shape';
  readonly type: 'shape';
  readonly geometry: Geometry;
  /** The name of the function in the request. */
  readonly function: string;
  readonly position: number;
}

export type Value = Scalar | Clock | Pattern | TextRange | ShapeValue;

/** A part with a fault, which has been recorded; parsing continues after it. */
export interface Broken {
  readonly kind: 'broken';
}
export const BROKEN: Broken = { kind: 'broken' };

export type FieldName =
  | { readonly kind: 'name'; readonly name: string; readonly position: number }
  | {
      readonly kind: 'custom';
      readonly group: string;
      readonly label: string;
      readonly position: number;
    };

/** A function of a field, with its arguments after the field. */
export interface FieldCall {
  readonly kind: 'call';
  readonly function: FieldFunction;
  readonly of: FieldName | FieldCall | Broken;
  readonly rest: readonly Scalar[];
  readonly position: number;
}

/** The left side of a condition. */
export type Operand =
  | FieldName
  | FieldCall
  | Value
  | Broken
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticWord;
      readonly left: Operand;
      readonly right: Operand;
      readonly position: number;
    }
  | { readonly kind: 'negate'; readonly operand: Operand; readonly position: number };

export const COMPARISONS = ['Eq', 'Ne', 'Gt', 'Ge', 'Lt', 'Le', 'Bt'] as const;
export type ComparisonWord = (typeof COMPARISONS)[number];

/** The right side: one value or a list of values, all of the same type. */
export interface Values {
  readonly kind: 'values';
  readonly type: Value['type'];
  readonly values: readonly Value[];
  readonly position: number;
}

export interface Condition {
  readonly kind: 'condition';
  readonly left: Operand;
  readonly operator: ComparisonWord;
  readonly right: Values | Broken;
  readonly position: number;
}

export type Filter =
  | Condition
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Filter[] }
  | { readonly kind: 'not'; readonly operand: Filter };

const NAMES: Readonly<Record<Value['type'] | 'field' | 'all', string>> = {
  integer: 'a whole number',
  decimal: 'a decimal number',
  character: 'a text',
  date: 'a date',
  datetime: 'a timestamp',
  time: 'a time of day',
  boolean: 'true or false',
  null: 'NULL',
  shape: 'a shape',
  field: 'a field',
  all: 'all()',
};

/** The type that a function or operator sees; fields fit every type until they are bound. */
export type ApparentType = keyof typeof NAMES;

/** The name of a type in messages. */
export const typeName = (type: ApparentType): string => NAMES[type];

/** The part of a value that a fault quotes. */
export function tokenOf(value: Value): string {
  switch (value.kind) {
    case 'scalar':
      return value.text;
    case 'clock':
    case 'shape':
      return value.function;
    case 'pattern':
      return value.form;
    case 'range':
      return 'range';
  }
}
