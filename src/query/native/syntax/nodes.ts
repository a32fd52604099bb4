/** What the text of a filter says, before any name is looked up. */
import type { Point } from '../../tree.ts';

export type ScalarType =
  | 'integer'
  | 'decimal'
  | 'character'
  | 'date'
  | 'datetime'
  | 'time'
  | 'boolean'
  | 'null';

/** A literal, or what literal arithmetic and functions came to. Of a `character` the text is without quotes. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  readonly text: string;
  readonly position: number;
}

export type ClockFunction =
  | 'now'
  | 'seconds'
  | 'minutes'
  | 'hours'
  | 'days'
  | 'weekdays'
  | 'months'
  | 'years';

/** A moment or day counted from the time of the request; binding knows that time. */
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
  readonly form: 'regex' | 'startswith' | 'endswith' | 'contains';
  readonly text: string;
  readonly ignoreCase: boolean;
  readonly position: number;
}

/** `range('M01','M04')`: the texts from the first to the second, both included. */
export interface TextRange {
  readonly kind: 'range';
  readonly type: 'character';
  readonly from: string;
  readonly to: string;
  readonly position: number;
}

/** A polygon: its outer ring, then its holes. Rings are closed: the last point is the first. */
export type Area = readonly (readonly Point[])[];

export type Geometry =
  | { readonly kind: 'circle'; readonly center: Point; readonly miles: number }
  /** Around lines; one of a single point is that point. */
  | {
      readonly kind: 'around';
      readonly lines: readonly (readonly Point[])[];
      readonly miles: number;
      readonly srid?: number;
    }
  | { readonly kind: 'circle-around'; readonly record: string; readonly miles: number }
  | { readonly kind: 'areas'; readonly areas: readonly Area[]; readonly srid?: number }
  | { readonly kind: 'points'; readonly points: readonly Point[]; readonly srid?: number }
  | { readonly kind: 'lines'; readonly lines: readonly (readonly Point[])[]; readonly srid?: number };

export interface Shape {
  readonly kind: 'shape';
  readonly type: 'shape';
  readonly geometry: Geometry;
  /** The function that wrote it. */
  readonly function: string;
  readonly position: number;
}

export type Value = Scalar | Clock | Pattern | TextRange | Shape;
export type ValueType = Value['type'];

/** It was at fault, which has been noted; what stands around it is still read. */
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

export type FieldFunction =
  | 'all'
  | 'tolower'
  | 'toupper'
  | 'trim'
  | 'length'
  | 'substring'
  | 'indexof'
  | 'concat'
  | 'cast'
  | 'round'
  | 'ceiling'
  | 'floor'
  | 'date'
  | 'time'
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'fractionalseconds'
  | 'dayofyear'
  | 'dayofweek';

/** A function of a field, with what follows the field in the parentheses. */
export interface FieldCall {
  readonly kind: 'call';
  readonly function: FieldFunction;
  readonly of: FieldName | FieldCall | Broken;
  readonly rest: readonly Scalar[];
  readonly position: number;
}

export const ARITHMETIC_OPERATORS = ['Add', 'Sub', 'Mul', 'Div', 'Mod'] as const;
export type ArithmeticWord = (typeof ARITHMETIC_OPERATORS)[number];

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

export type ComparisonWord = 'Eq' | 'Ne' | 'Gt' | 'Ge' | 'Lt' | 'Le' | 'Bt';

/** The right side: one value or a list, all of the one type that they were found to share. */
export interface Values {
  readonly kind: 'values';
  readonly type: ValueType;
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
