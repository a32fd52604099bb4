/** Conditions of the native language as the oracle writes and evaluates them (docs/native-filter.md). */
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

/** What stands on the left; over a multi-valued field the term speaks of its members (scope 1). */
export interface Left {
  readonly term: Term;
  readonly over?: Extract<Over, { kind: 'values' }> | undefined;
}

/** One value of the right side, with the text that it is written as. */
export type Right =
  | { readonly kind: 'null' }
  | { readonly kind: 'literal'; readonly value: Value; readonly text: string }
  /** A moment a little after a millisecond. */
  | { readonly kind: 'beyond'; readonly value: number; readonly text: string }
  | { readonly kind: 'wildcards'; readonly pattern: readonly string[]; readonly text: string }
  | { readonly kind: 'regex'; readonly pattern: string; readonly ignoreCase: boolean }
  | { readonly kind: 'part'; readonly name: 'startswith' | 'endswith' | 'contains'; readonly part: string }
  | { readonly kind: 'range'; readonly from: string; readonly to: string };

export type Shape =
  | { readonly kind: 'circle'; readonly centre: Place; readonly miles: number }
  /** A circle around a record, whoever may see that. */
  | { readonly kind: 'around'; readonly key: string; readonly miles: number }
  | { readonly kind: 'points'; readonly points: readonly Place[]; readonly form: 'point' | 'multipoint' }
  | {
      readonly kind: 'lines';
      readonly lines: readonly (readonly Place[])[];
      readonly form: 'linestring' | 'wkt line' | 'wkt lines';
    }
  /** Rings, the first around the others. */
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

/** A filter as its words stand: `first word part word part …`. */
export interface Joined {
  readonly kind: 'joined';
  readonly negated: boolean;
  readonly first: Part;
  readonly rest: readonly { readonly word: 'And' | 'Or' | 'Not'; readonly part: Part }[];
}

export type Part = Condition | Joined;
