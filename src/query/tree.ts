/**
 * The query tree. Both languages (OData and the native one) are parsed into it, the conditions of roles are added to it, and the
 * SQL compiler reads nothing else. Every name in it is an entry of the dictionary; every value is a literal.
 */
import type { Field, Navigation } from '../dictionary/types.ts';

/** The types of expressions. Collections occur only inside `Collection`. */
export type ValueType =
  | 'string'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'time'
  | 'duration'
  | 'point'
  | 'polygon'
  | 'null';

/**
 * A literal in canonical form: dates `YYYY-MM-DD`, timestamps in UTC with `Z`, times `HH:MM:SS[.fff]`, durations in seconds, points
 * as longitude and latitude in degrees.
 */
export type Literal =
  | {
      readonly kind: 'literal';
      readonly type: 'string' | 'date' | 'timestamp' | 'time';
      readonly value: string;
    }
  | { readonly kind: 'literal'; readonly type: 'integer' | 'decimal' | 'duration'; readonly value: number }
  | { readonly kind: 'literal'; readonly type: 'boolean'; readonly value: boolean }
  | { readonly kind: 'literal'; readonly type: 'null'; readonly value: null }
  | { readonly kind: 'literal'; readonly type: 'point'; readonly value: Point }
  | { readonly kind: 'literal'; readonly type: 'polygon'; readonly value: readonly Point[] };

export interface Point {
  readonly longitude: number;
  readonly latitude: number;
}

/** Identifies a record in an expression: 0 is the record itself, and each lambda opens a further scope. */
export type Scope = number;

/** A single-valued field of the scope's record, or of a record that to-one navigations lead to. */
export interface FieldReference {
  readonly kind: 'field';
  readonly type: ValueType;
  readonly scope: Scope;
  readonly via: readonly Navigation[];
  readonly field: Field;
}

/** The current value of a lambda over a multi-valued lookup. */
export interface Variable {
  readonly kind: 'variable';
  readonly type: ValueType;
  readonly scope: Scope;
}

export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';

/** The equivalent operator with the two sides exchanged. */
export const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
};

/**
 * `eq` and `ne` treat null as a value; the other operators are false if a side is null (OData 4.01 URL conventions, 5.1.1.1). A
 * comparison is therefore never null.
 */
export interface Comparison {
  readonly kind: 'compare';
  readonly operator: ComparisonOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Membership {
  readonly kind: 'in';
  readonly operand: Expression;
  readonly values: readonly Literal[];
}

/** Three-valued `and` and `or` over one or more terms. */
interface Logical {
  readonly kind: 'and' | 'or';
  readonly terms: readonly Expression[];
}

interface Not {
  readonly kind: 'not';
  readonly operand: Expression;
}

/** `div` of two integers is integer division; `divby` never is. */
export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod';

export interface Arithmetic {
  readonly kind: 'arithmetic';
  readonly type: ValueType;
  readonly operator: ArithmeticOperator;
  readonly left: Expression;
  readonly right: Expression;
}

interface Negation {
  readonly kind: 'negate';
  readonly type: ValueType;
  readonly operand: Expression;
}

/** Every function of both languages, with the meaning that the SQL compiler implements. */
export type FunctionName =
  | 'contains'
  | 'startswith'
  | 'endswith'
  | 'length'
  | 'indexof'
  | 'substring'
  | 'tolower'
  | 'toupper'
  | 'trim'
  | 'concat'
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'fractionalseconds'
  | 'dayofyear'
  | 'dayofweek'
  | 'date'
  | 'time'
  | 'totaloffsetminutes'
  | 'totalseconds'
  | 'now'
  | 'mindatetime'
  | 'maxdatetime'
  | 'round'
  | 'floor'
  | 'ceiling';

/** A function of null is null. `substring` and `indexof` count from 0, in characters. */
export interface FunctionCall {
  readonly kind: 'call';
  readonly type: ValueType;
  readonly function: FunctionName;
  readonly arguments: readonly Expression[];
}

/**
 * A value converted to another type; null if that is not possible. A text is converted if it is a literal of the type; a number
 * that becomes an integer loses its fraction.
 */
export interface Cast {
  readonly kind: 'cast';
  readonly type: ValueType;
  /** The least and the greatest integer of the type; a number outside the range becomes null. */
  readonly range?: readonly [number, number];
  readonly operand: Expression;
}

/** Whether a text matches a regular expression (RE2, so that matching takes linear time). */
export interface Matches {
  readonly kind: 'matches';
  readonly operand: Expression;
  readonly pattern: string;
  readonly ignoreCase: boolean;
}

/** Whether a complete text matches a pattern with wildcards: `*` stands for any characters, `?` for one. */
interface Like {
  readonly kind: 'like';
  readonly operand: Expression;
  readonly pattern: readonly LikePart[];
}

export type LikePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'one' };

/** The result of the first branch whose condition is true; null if none is. */
export interface Conditional {
  readonly kind: 'case';
  readonly type: ValueType;
  readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
}

/** The point of Latitude and Longitude of the record that scope and navigations identify. */
export interface Location {
  readonly kind: 'location';
  readonly scope: Scope;
  readonly via: readonly Navigation[];
  readonly latitude: Field;
  readonly longitude: Field;
}

/**
 * The location of another record of the resource, if the role sees that record. A hidden record has no location, like one that does
 * not exist.
 */
export interface PlaceOfRecord {
  readonly key: string;
  readonly latitude: Field;
  readonly longitude: Field;
}

/** The distance in meters, on a sphere, between the record's location and a point; null if either is missing. */
export interface Distance {
  readonly kind: 'distance';
  readonly location: Location;
  readonly to: Point | PlaceOfRecord;
}

/** Whether the record's location lies in a polygon, including its border; null without a location. */
export interface Within {
  readonly kind: 'within';
  readonly location: Location;
  readonly polygon: readonly Point[];
}

/** The collection that a lambda or `$count` ranges over. */
export type Collection =
  | {
      readonly kind: 'values';
      readonly scope: Scope;
      readonly via: readonly Navigation[];
      readonly field: Field;
    }
  | {
      readonly kind: 'records';
      readonly scope: Scope;
      readonly via: readonly Navigation[];
      readonly navigation: Navigation;
    };

/** `any` of an empty collection is false, `all` is true. `any` without a predicate tests whether the collection is not empty. */
export interface Quantified {
  readonly kind: 'any' | 'all';
  readonly over: Collection;
  readonly variable: Scope;
  readonly predicate?: Expression;
}

export interface Count {
  readonly kind: 'count';
  readonly over: Collection;
  readonly variable: Scope;
  readonly predicate?: Expression;
}

/** Whether the search words are in the record (OData 4.01 protocol 11.2.6.6). */
export type Search =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string }
  | { readonly kind: 'search-and' | 'search-or'; readonly terms: readonly Search[] }
  | { readonly kind: 'search-not'; readonly operand: Search };

export type Expression =
  | Literal
  | FieldReference
  | Variable
  | Comparison
  | Membership
  | Logical
  | Not
  | Arithmetic
  | Negation
  | FunctionCall
  | Cast
  | Matches
  | Like
  | Conditional
  | Distance
  | Within
  | Quantified
  | Count;

/** The type of an expression's value. */
export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case 'literal':
    case 'field':
    case 'variable':
    case 'arithmetic':
    case 'negate':
    case 'call':
    case 'cast':
    case 'case':
      return expression.type;
    case 'compare':
    case 'in':
    case 'and':
    case 'or':
    case 'not':
    case 'matches':
    case 'like':
    case 'within':
    case 'any':
    case 'all':
      return 'boolean';
    case 'count':
      return 'integer';
    case 'distance':
      return 'decimal';
  }
}

/** The operands of an expression, and the predicate of its collection. The members of a list are constants and not included. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'variable':
    case 'field':
    case 'distance':
    case 'within':
      return [];
    case 'compare':
    case 'arithmetic':
      return [expression.left, expression.right];
    case 'in':
    case 'not':
    case 'negate':
    case 'cast':
    case 'matches':
    case 'like':
      return [expression.operand];
    case 'and':
    case 'or':
      return expression.terms;
    case 'call':
      return expression.arguments;
    case 'case':
      return expression.branches.flatMap(({ when, then }) => [when, then]);
    case 'any':
    case 'all':
    case 'count':
      return expression.predicate === undefined ? [] : [expression.predicate];
  }
}

/** A field of the record itself, or of one that navigations lead to. */
export const fieldOf = (field: Field, via: readonly Navigation[] = []): FieldReference => ({
  kind: 'field',
  type: field.type.kind,
  scope: 0,
  via,
  field,
});

/** Joins conditions with `and`; undefined if there are none. */
export function allOf(...conditions: readonly (Expression | undefined)[]): Expression | undefined {
  const terms = conditions.filter((each) => each !== undefined);
  return terms.length > 1 ? { kind: 'and', terms } : terms[0];
}

export interface OrderTerm {
  readonly expression: Expression;
  readonly descending: boolean;
}
