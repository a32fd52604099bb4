/** What the text of a `_filter` says, before any name in it is known. It is data only: the parser makes it, the binder reads it. */
import type { ArithmeticWord } from './decimal.ts';
import type { ClockFunction, FieldFunction, PatternFunction, ScalarType } from './functions.ts';
import type { Geometry } from './shapes.ts';

/** A literal, or what literal arithmetic and functions came to. Of a `character` the text is without quotes. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  readonly text: string;
  readonly position: number;
}

/** A moment or day counted from the time of the request, which the binder knows. */
export interface Clock {
  readonly kind: 'clock';
  readonly type: 'date' | 'datetime';
  readonly function: ClockFunction;
  readonly count: number;
  readonly position: number;
}

/** A test of a text, written where a value stands: `City Eq startswith('Far')`. */
export interface Pattern {
  readonly kind: 'pattern';
  readonly type: 'character';
  readonly form: PatternFunction;
  readonly text: string;
  readonly ignoreCase: boolean;
  readonly position: number;
}

/** `range('M01','M04')`: the texts from the first to the second, both included. */
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
  /** The function that wrote it. */
  readonly function: string;
  readonly position: number;
}

export type Value = Scalar | Clock | Pattern | TextRange | ShapeValue;

/** It was at fault, and the fault has been recorded; its surroundings are still parsed. */
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

/** A function of a field, with what follows the field in the parentheses. */
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

/** The right side: one value or a list, all of the one type that they were found to share. */
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

/** The type that a function or an operator sees; fields are of every type until they are bound. */
export type SeenType = keyof typeof NAMES;

/** A type as messages name it. */
export const typeName = (type: SeenType): string => NAMES[type];

/** What of a value a fault points at. */
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
