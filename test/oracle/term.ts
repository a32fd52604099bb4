/**
 * Expressions of OData, in the form that the oracle writes and evaluates; they share nothing with the query tree of the service.
 */
import type { Field, Navigation } from '../../src/dictionary/index.ts';
import type { Place } from './places.ts';
import type { Type, Value } from './values.ts';

/** The start of a path: 0 is the record itself; each lambda or nested filter opens the next scope. */
export type Scope = number;

export interface Literal {
  readonly kind: 'literal';
  readonly type: Type;
  readonly value: Value;
  /** The text, if it is not the default one. */
  readonly written?: string;
}

/** A single-valued field, after to-one navigations. */
export interface FieldTerm {
  readonly kind: 'field';
  readonly type: Type;
  readonly scope: Scope;
  readonly via: readonly Navigation[];
  readonly field: Field;
}

/** The variable of a lambda over a multi-valued field. */
export interface ElementTerm {
  readonly kind: 'element';
  readonly type: Type;
  readonly scope: Scope;
  readonly lookup?: string | undefined;
}

/** The collection that a lambda ranges over. */
export type Over =
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

export type Comparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';
export type Arithmetic = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod';

export const FUNCTIONS = [
  'contains',
  'startswith',
  'endswith',
  'length',
  'indexof',
  'substring',
  'tolower',
  'toupper',
  'trim',
  'concat',
  'year',
  'month',
  'day',
  'dayofyear',
  'dayofweek',
  'hour',
  'minute',
  'second',
  'fractionalseconds',
  'date',
  'time',
  'totaloffsetminutes',
  'totalseconds',
  'now',
  'mindatetime',
  'maxdatetime',
  'round',
  'floor',
  'ceiling',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

export const CASTS = {
  'Edm.String': 'string',
  'Edm.Byte': 'integer',
  'Edm.SByte': 'integer',
  'Edm.Int16': 'integer',
  'Edm.Int32': 'integer',
  'Edm.Int64': 'integer',
  'Edm.Decimal': 'decimal',
  'Edm.Double': 'decimal',
  'Edm.Boolean': 'boolean',
  'Edm.Date': 'date',
  'Edm.DateTimeOffset': 'timestamp',
  'Edm.TimeOfDay': 'time',
  'Edm.Duration': 'duration',
} as const satisfies Readonly<Record<string, Type>>;
export type CastName = keyof typeof CASTS;

export interface Branch {
  readonly when: Term;
  readonly result: Term;
}

export type Term =
  | Literal
  | FieldTerm
  | ElementTerm
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Term; readonly right: Term }
  | { readonly kind: 'in'; readonly operand: Term; readonly items: readonly Term[] }
  | { readonly kind: 'member'; readonly operand: Term; readonly over: Over }
  | { readonly kind: 'has'; readonly of: FieldTerm | Over; readonly members: readonly string[] }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Term[] }
  | { readonly kind: 'not'; readonly operand: Term }
  | {
      readonly kind: 'arithmetic';
      readonly type: Type;
      readonly operator: Arithmetic;
      readonly left: Term;
      readonly right: Term;
    }
  | { readonly kind: 'negate'; readonly type: Type; readonly operand: Term }
  | {
      readonly kind: 'call';
      readonly type: Type;
      readonly name: FunctionName;
      readonly parameters: readonly Term[];
    }
  | { readonly kind: 'cast'; readonly type: Type; readonly to: CastName; readonly operand: Term }
  | { readonly kind: 'isof'; readonly to: CastName; readonly operand: Term }
  | { readonly kind: 'case'; readonly type: Type; readonly branches: readonly Branch[] }
  | {
      readonly kind: 'matches';
      readonly operand: Term;
      readonly pattern: string;
      readonly ignoreCase: boolean;
    }
  | {
      readonly kind: 'distance';
      readonly scope: Scope;
      readonly via: readonly Navigation[];
      readonly to: Place;
    }
  | {
      readonly kind: 'within';
      readonly scope: Scope;
      readonly via: readonly Navigation[];
      readonly ring: readonly Place[];
    }
  /** `ListAgent eq null`. */
  | {
      readonly kind: 'absent';
      readonly scope: Scope;
      readonly via: readonly Navigation[];
      readonly operator: 'eq' | 'ne';
    }
  | {
      readonly kind: 'any' | 'all';
      readonly over: Over;
      readonly inner: Scope;
      readonly variable: string;
      /** A preceding `/$filter(…)`, whose names refer to the members. */
      readonly filter?: Term | undefined;
      readonly predicate?: Term | undefined;
    }
  | {
      readonly kind: 'count';
      readonly over: Over;
      readonly inner: Scope;
      /** `$filter(…)/$count` or `$count($filter=…)`. */
      readonly before: boolean;
      readonly filter?: Term | undefined;
    };

export function typeOf(term: Term): Type {
  switch (term.kind) {
    case 'literal':
    case 'field':
    case 'element':
    case 'arithmetic':
    case 'negate':
    case 'call':
    case 'cast':
    case 'case':
      return term.type;
    case 'distance':
      return 'decimal';
    case 'count':
      return 'integer';
    case 'compare':
    case 'in':
    case 'member':
    case 'has':
    case 'and':
    case 'or':
    case 'not':
    case 'isof':
    case 'matches':
    case 'within':
    case 'absent':
    case 'any':
    case 'all':
      return 'boolean';
  }
}

/** The direct operands. */
export function partsOf(term: Term): readonly Term[] {
  switch (term.kind) {
    case 'literal':
    case 'field':
    case 'element':
    case 'has':
    case 'distance':
    case 'within':
    case 'absent':
      return [];
    case 'compare':
    case 'arithmetic':
      return [term.left, term.right];
    case 'in':
      return [term.operand, ...term.items];
    case 'and':
    case 'or':
      return term.terms;
    case 'call':
      return term.parameters;
    case 'case':
      return term.branches.flatMap(({ when, result }) => [when, result]);
    case 'member':
    case 'not':
    case 'negate':
    case 'cast':
    case 'isof':
    case 'matches':
      return [term.operand];
    case 'any':
    case 'all':
      return [term.filter, term.predicate].filter((part) => part !== undefined);
    case 'count':
      return term.filter === undefined ? [] : [term.filter];
  }
}
