import type { Lookup, Navigation } from '../../../dictionary/types.ts';
import type { PlatError } from '../../../errors/index.ts';
import type { ResourceSchema, Schema } from '../../schema.ts';
import type { Collection, Expression, Location, Scope } from '../../tree.ts';
import { MAX_DEPTH, MAX_REQUEST_TERMS, MAX_TERMS, MAX_VALUE_CHARACTERS } from '../limits.ts';
import type { Node } from '../syntax/nodes.ts';
import { notProvided, type Source, type Sourced, tooLarge, typeMismatch } from '../syntax/source.ts';

export interface BoundValue {
  readonly kind: 'value';
  readonly expression: Expression;
  /** The lookup that the value is taken from. */
  readonly lookup?: Lookup;
  /** Whether it is a member of an enumeration, whose names escape what no name may hold. */
  readonly isOfLookup?: boolean;
  /** A literal as the request has it, for messages. */
  readonly written?: string;
}

/** One record: the record itself, a related one, or the one that a lambda looks at. */
export interface BoundRecord {
  readonly kind: 'record';
  readonly schema: ResourceSchema;
  readonly scope: Scope;
  readonly via: readonly Navigation[];
}

/** Many values or records. */
export interface BoundCollection {
  readonly kind: 'collection';
  readonly name: string;
  readonly over: Collection;
  /** What a variable over it stands for. */
  readonly element: (scope: Scope) => BoundValue | BoundRecord;
  /** From `$filter(…)` segments; it speaks of the next scope. */
  readonly predicate?: Expression;
}

export interface BoundList {
  readonly kind: 'list';
  readonly items: readonly BoundValue[];
}

/** The point of a record. */
export interface BoundLocation {
  readonly kind: 'location';
  readonly location: Location;
}

/** What a piece of syntax means. */
export type Bound = BoundValue | BoundRecord | BoundCollection | BoundList | BoundLocation;

/** A parameter alias or a computed name: bound anew where it is used, in the query that it was written for. */
export interface Named extends Sourced<Node> {
  readonly query: QueryScope;
}

/** A computed name, and how many stand before it: those it may use. */
export interface ComputedName extends Named {
  readonly before: number;
}

/** What all expressions of one collection's options share. */
export interface QueryScope {
  readonly schema: Schema;
  readonly record: BoundRecord;
  /** `$it` is the record of the resource path, which an expansion cannot reach. */
  readonly isExpansion: boolean;
  readonly aliases: ReadonlyMap<string, Named>;
  /** All computed names of the collection; an expression may use the first `reach` of them. */
  readonly computed: ReadonlyMap<string, ComputedName>;
  readonly reach: number;
  readonly expanded: Expanded;
}

/** What a whole request has become so far, once aliases and computed names are put in where they are used. */
export interface Expanded {
  terms: number;
  characters: number;
}

export const nothingExpanded = (): Expanded => ({ terms: 0, characters: 0 });

/** What an option has asked for so far. */
interface Spending {
  terms: number;
  /** What its regular expressions weigh. */
  patterns: number;
}

/** Where an expression stands. */
export interface Environment {
  readonly query: QueryScope;
  readonly source: Source;
  /** What unprefixed names and `$this` speak of; undefined where no record can be reached. */
  readonly self: BoundRecord | BoundValue | undefined;
  readonly variables: ReadonlyMap<string, BoundRecord | BoundValue>;
  readonly nextScope: Scope;
  readonly depth: number;
  /** Aliases and computed names that are being bound. */
  readonly within: readonly Named[];
  /** Shared by the whole option. */
  readonly spent: Spending;
}

export function environmentOf(query: QueryScope, source: Source): Environment {
  return {
    query,
    source,
    self: query.record,
    variables: new Map(),
    nextScope: 1,
    depth: 0,
    within: [],
    spent: { terms: 0, patterns: 0 },
  };
}

/** One level deeper. */
export function deeper(env: Environment, node: Place): Environment {
  if (env.depth >= MAX_DEPTH) throw tooLarge(env.source, node.start, 'levels of nesting', MAX_DEPTH);
  return { ...env, depth: env.depth + 1 };
}

/** Counts one term of the option. */
export function spend(env: Environment, node: Place): void {
  env.spent.terms++;
  if (env.spent.terms > MAX_TERMS) throw tooLarge(env.source, node.start, 'terms', MAX_TERMS);
  const { expanded } = env.query;
  expanded.terms++;
  if (expanded.terms <= MAX_REQUEST_TERMS) return;
  const what = 'terms in all options, each counted as often as it is used';
  throw tooLarge(env.source, node.start, what, MAX_REQUEST_TERMS);
}

/** What a value takes beside its characters. */
const VALUE = 8;

/** Counts one value of the request. */
export function spendValue(env: Environment, node: Place, characters: number): void {
  const { expanded } = env.query;
  expanded.characters += characters + VALUE;
  if (expanded.characters <= MAX_VALUE_CHARACTERS) return;
  const what = 'characters of values, each counted as often as it is used';
  throw tooLarge(env.source, node.start, what, MAX_VALUE_CHARACTERS);
}

/** Where a message points. */
export interface Place {
  readonly start: number;
}

export const mismatch = ({ source }: Environment, { start }: Place, reason: string): PlatError =>
  typeMismatch(source, start, reason);

export const unsupported = ({ source }: Environment, { start }: Place, what: string): PlatError =>
  notProvided(source, start, what);
