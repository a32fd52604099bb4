/** A request for a collection. Both languages produce it, and it depends on neither of them. */
import type { Field, Navigation, Resource } from '../dictionary/types.ts';
import { malformedError } from '../errors/index.ts';
import type { Expression, OrderTerm, Search } from './tree.ts';

/** The fields of a record that a response includes. */
export interface Selection {
  /** All fields of the record; the lists below are then empty. */
  readonly all: boolean;
  readonly fields: readonly Field[];
  /** Fields that the request names and that exist, but that the key's role may not see. */
  readonly hidden: readonly Field[];
}

/** A named value computed for each record (`$compute`). */
export interface Computed {
  readonly name: string;
  readonly expression: Expression;
}

export interface Expansion {
  readonly navigation: Navigation;
  /** The name that the request used, which the response also uses. */
  readonly name: string;
  /** The related records, their addresses (`$ref`), or only their number. */
  readonly give: 'records' | 'references' | 'count';
  readonly query: CollectionQuery;
  /** Set if the store has no records to which the expansion could lead. */
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

/**
 * @param part the name of the text in the message
 * @throws PlatError `requestMalformed`: no stored text contains a NUL character, and engines count and order it differently
 */
export function mustNotHaveNul(text: string, part: string): void {
  if (!text.includes('\0')) return;
  throw malformedError(`${part} contains a NUL character`, { target: part });
}
