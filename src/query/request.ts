/** What a request asks of a collection, in neutral terms; both languages produce it. */
import type { Field, Navigation, Resource } from '../dictionary/types.ts';
import type { Expression, OrderTerm, Search } from './tree.ts';

/** Which fields of a record are given. */
export interface Selection {
  /** All fields of the record; the lists below are then empty. */
  readonly all: boolean;
  readonly fields: readonly Field[];
  /** Fields that were named and exist, but that the key's role may not see. */
  readonly hidden: readonly Field[];
}

/** A named value computed for each record (`$compute`). */
export interface Computed {
  readonly name: string;
  readonly expression: Expression;
}

export interface Expansion {
  readonly navigation: Navigation;
  /** The name that the request used, which the response uses too. */
  readonly name: string;
  /** `records` gives the related records, `references` their addresses (`$ref`), `count` only their number. */
  readonly give: 'records' | 'references' | 'count';
  readonly query: CollectionQuery;
  /** Set where there is nothing that it could lead to. */
  readonly isBare?: true;
}

export interface CollectionQuery {
  readonly resource: Resource;
  readonly filter?: Expression;
  readonly search?: Search;
  readonly order: readonly OrderTerm[];
  readonly selection: Selection;
  readonly computed: readonly Computed[];
  readonly expansions: readonly Expansion[];
  readonly count: boolean;
  readonly top?: number;
  readonly skip?: number;
  readonly skipToken?: string;
}

export const SELECT_ALL: Selection = { all: true, fields: [], hidden: [] };
