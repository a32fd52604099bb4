/** Conditions of the native language, in the form that the oracle writes and evaluates (docs/native-filter.md). */
import type { Place } from './places.ts';
import type { Comparison, Over, Term } from './term.ts';
import type { Value } from './values.ts';

export type NativeOperator = 'Eq' | 'Ne' | 'Gt' | 'Ge' | 'Lt' | 'Le' | 'Bt';

export const ORDERS: Readonly<Record<'Gt' | 'Ge' | 'Lt' | 'Le', Comparison>> = {
  Gt: 'gt',
  Ge: 'ge',
  Lt: 'lt',
  Le: 'le',
};

/** The left side of a condition; over a multi-valued field, the term refers to its members (scope 1). */
export interface Left {
  readonly term: Term;
  readonly over?: Extract<Over, { kind: 'values' }> | undefined;
}

/** One value of the right side, with its text. */
export type Right =
  | { readonly kind: 'null' }
  | { readonly kind: 'literal'; readonly value: Value; readonly text: string }
  /** A moment slightly after a millisecond. */
  | { readonly kind: 'beyond'; readonly value: number; readonly text: string }
  | { readonly kind: 'wildcards'; readonly pattern: readonly string[]; readonly text: string }
  | { readonly kind: 'regex'; readonly pattern: string; readonly ignoreCase: boolean }
  | { readonly kind: 'part'; readonly name: 'startswith' | 'endswith' | 'contains'; readonly part: string }
  | { readonly kind: 'range'; readonly from: string; readonly to: string };

export type Shape =
  | { readonly kind: 'circle'; readonly centre: Place; readonly miles: number }
  /** A circle around another record, which the viewer may or may not see. */
  | { readonly kind: 'around'; readonly key: string; readonly miles: number }
  | { readonly kind: 'points'; readonly points: readonly Place[]; readonly form: 'point' | 'multipoint' }
  | {
      readonly kind: 'lines';
      readonly lines: readonly (readonly Place[])[];
      readonly form: 'linestring' | 'wkt line' | 'wkt lines';
    }
  /** Rings; the first one is the outer ring. */
  | {
      readonly kind: 'area';
      readonly rings: readonly (readonly Place[])[];
      readonly form: 'polygon' | 'rectangle' | 'wkt';
    };

export type Condition =
  | {
      readonly kind: 'comparison';
      readonly left: Left;
      readonly operator: NativeOperator;
      readonly right: readonly Right[];
    }
  /** `all(field)`. */
  | {
      readonly kind: 'every';
      readonly over: Extract<Over, { kind: 'values' }>;
      readonly operator: 'Eq' | 'Ne';
      readonly right: readonly Right[];
    }
  | { readonly kind: 'place'; readonly operator: 'Eq' | 'Ne'; readonly shapes: readonly Shape[] };

/** A filter, in the order of its words: `first word part word part …`. */
export interface Joined {
  readonly kind: 'joined';
  readonly negated: boolean;
  readonly first: Part;
  readonly rest: readonly { readonly word: 'And' | 'Or' | 'Not'; readonly part: Part }[];
}

export type Part = Condition | Joined;
