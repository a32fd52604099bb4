/** The syntax of an OData option, before any name in it is known. Positions are offsets into the source, from 0. */
import type { ArithmeticOperator, ComparisonOperator, Search } from '../../tree.ts';
import type { LiteralText } from './literal.ts';
import type { Sourced } from './source.ts';

interface At {
  readonly start: number;
}

export type BinaryOperator = ComparisonOperator | ArithmeticOperator | 'has' | 'in';

/** An argument of a call or a key; bound functions and keys may name theirs. */
export interface Argument {
  readonly name?: string;
  readonly value: Node;
}

/** One part of a path, between slashes. */
export type Segment = At &
  (
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Argument[] }
    /** A key or the result of a call addressed further: parentheses after parentheses. */
    | { readonly kind: 'key'; readonly arguments: readonly Argument[] }
    | { readonly kind: 'it' | 'this' | 'root' }
    /** `@name`: a parameter alias at the head of a path, an annotation elsewhere. */
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

export type Node = At &
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
    /** Without operand it speaks of the record itself. */
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

export interface OrderNode {
  readonly expression: Node;
  readonly descending: boolean;
}

export interface ComputeNode extends At {
  readonly expression: Node;
  readonly name: string;
}

/** One part of a path in `$select` or `$expand`. */
export type PathPart = At & { readonly kind: 'name' | 'annotation'; readonly name: string };

export type SelectNode = At &
  (
    | { readonly kind: 'all' }
    /** `Namespace.*`, or the signature of a function: bound operations, of which there are none. */
    | { readonly kind: 'operations' }
    | {
        readonly kind: 'path';
        readonly path: readonly PathPart[];
        readonly options?: OptionNodes;
      }
  );

interface Expanded {
  readonly give: 'records' | 'references' | 'count';
  readonly options: OptionNodes;
}

export type ExpandNode = At &
  (
    | { readonly kind: 'media' }
    | ({ readonly kind: 'path'; readonly path: readonly [PathPart, ...PathPart[]] } & Expanded)
    /** `*`, after a path or alone. */
    | ({ readonly kind: 'star'; readonly path: readonly PathPart[] } & Expanded)
  );

/** Options that have been read, of the request or of an item in parentheses. */
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
