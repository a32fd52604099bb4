/**
 * The syntax tree of an OData request, before its names are resolved. It is only data: the parser creates it, and binders read it.
 */
import type { ArithmeticOperator, ComparisonOperator, Search } from '../tree.ts';
import type { WellKnownShape } from '../well-known-text.ts';
import type { Sourced, Start } from './option-text.ts';

/** A literal: its text without quotes and prefix, with doubled quotes unescaped. */
export type LiteralText =
  | {
      readonly form:
        | 'null'
        | 'boolean'
        | 'integer'
        | 'decimal'
        /** INF, -INF and NaN. */
        | 'special'
        | 'string'
        | 'guid'
        | 'date'
        | 'timestamp'
        | 'time'
        | 'duration'
        | 'binary';
      readonly text: string;
    }
  | { readonly form: 'enumeration'; readonly type: string; readonly text: string }
  | { readonly form: 'geography' | 'geometry'; readonly shape: WellKnownShape };

export type BinaryOperator = ComparisonOperator | ArithmeticOperator | 'has' | 'in';

/** An argument of a call or key; bound functions and keys may have named ones. */
export interface Argument {
  readonly name?: string;
  readonly value: Node;
}

/** One segment of a path. */
export type Segment = Start &
  (
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Argument[] }
    /** Parentheses after parentheses: a key, or a key of a call's result. */
    | { readonly kind: 'key'; readonly arguments: readonly Argument[] }
    | { readonly kind: 'it' | 'this' | 'root' }
    /** `@name`: a parameter alias at the start of a path, an annotation elsewhere. */
    | { readonly kind: 'at'; readonly name: string }
    | {
        readonly kind: 'lambda';
        readonly operator: 'any' | 'all';
        readonly variable?: string;
        readonly predicate?: Node;
      }
    | { readonly kind: 'count'; readonly filter?: Node; readonly search?: Search }
    | { readonly kind: 'filter'; readonly predicate: Node }
  );

export type Node = Start &
  (
    | { readonly kind: 'literal'; readonly literal: LiteralText }
    /** A JSON array, or the list after `in`. */
    | { readonly kind: 'list'; readonly items: readonly Node[] }
    | {
        readonly kind: 'object';
        readonly members: readonly { readonly name: string; readonly value: Node }[];
      }
    | { readonly kind: 'path'; readonly segments: readonly [Segment, ...Segment[]] }
    | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Argument[] }
    /** If there is no operand, it applies to the record itself. */
    | { readonly kind: 'cast' | 'isof'; readonly operand?: Node; readonly type: string }
    | {
        readonly kind: 'case';
        readonly branches: readonly { readonly when: Node; readonly result: Node }[];
      }
    | { readonly kind: 'not'; readonly operand: Node }
    | { readonly kind: 'negate'; readonly operand: Node }
    | {
        readonly kind: 'binary';
        readonly operator: BinaryOperator;
        readonly left: Node;
        readonly right: Node;
      }
    | { readonly kind: 'and' | 'or'; readonly operands: readonly Node[] }
  );

export type NodeOf<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>;

export interface OrderNode {
  readonly expression: Node;
  readonly descending: boolean;
}

export interface ComputeNode extends Start {
  readonly expression: Node;
  readonly name: string;
}

/** One segment of a path in `$select` or `$expand`. */
export type PathPart = Start & { readonly kind: 'name' | 'annotation'; readonly name: string };

export type SelectNode = Start &
  (
    | { readonly kind: 'all' }
    /** `Namespace.*`, or the signature of a function. It selects bound operations, but this service has none. */
    | { readonly kind: 'operations' }
    | { readonly kind: 'path'; readonly path: readonly PathPart[]; readonly options?: OptionNodes }
  );

interface Expanded {
  readonly give: 'records' | 'references' | 'count';
  readonly options: OptionNodes;
}

export type ExpandNode = Start &
  (
    | { readonly kind: 'media' }
    | ({ readonly kind: 'path'; readonly path: readonly [PathPart, ...PathPart[]] } & Expanded)
    /** `*`, after a path or alone. */
    | ({ readonly kind: 'star'; readonly path: readonly PathPart[] } & Expanded)
  );

/** The parsed options of a request, or of an item in parentheses. */
export interface OptionNodes {
  readonly filter?: Sourced<Node>;
  readonly orderby?: Sourced<readonly OrderNode[]>;
  readonly select?: Sourced<readonly SelectNode[]>;
  readonly expand?: Sourced<readonly ExpandNode[]>;
  readonly compute?: Sourced<readonly ComputeNode[]>;
  readonly search?: Search;
  readonly count?: boolean;
  readonly top?: number;
  readonly skip?: number;
  readonly levels?: number | 'max';
  /** Parameter aliases by name, without the at sign. */
  readonly aliases: ReadonlyMap<string, Sourced<Node>>;
}

export const NO_OPTIONS: OptionNodes = { aliases: new Map() };

export type PathSegment = {
  /** The decoded segment, in case it is a key. */
  readonly text: string;
} & (
  | {
      readonly kind: 'name';
      readonly name: string;
      /** The parentheses: a key, or the arguments of a function and a key of its result. */
      readonly groups: readonly (readonly Argument[])[];
    }
  /** `$count` and similar segments, in lower case and without the dollar sign. */
  | { readonly kind: 'system'; readonly name: string }
  /** Text that can only be a key. */
  | { readonly kind: 'text' }
);
