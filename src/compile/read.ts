/** What can be read from a store: requests as data, the same for every engine. */
import type { View } from '../access/index.ts';
import {
  type Field,
  type NativePart,
  type Navigation,
  partOfExpansion,
  type Resource,
} from '../dictionary/index.ts';
import type { NativeExpansion, SelectedMembers } from '../query/native/selection.ts';
import type { Computed, Expansion, Selection } from '../query/request.ts';
import type { Expression, OrderTerm, Search } from '../query/tree.ts';
import type { BoundValue } from './fragment.ts';

/** Which records. The view's role is always part of it. */
export interface RecordQuery {
  readonly view: View;
  readonly resource: Resource;
  readonly filter?: Expression;
  readonly search?: Search;
  /** Only the children of this record. */
  readonly under?: Parent;
  /** Only these native sub-resources. */
  readonly part?: NativePart;
  /** Only rows of this list. */
  readonly among?: Uint32Array;
  /** Only rows that come after this one in the order. */
  readonly after?: LastRow;
  /** Empty: by key. The key is always the last term. */
  readonly order: readonly OrderTerm[];
  /** `now()` for the whole request, canonical. */
  readonly now: string;
}

export interface Parent {
  /** The collection that leads from the parent to these records. */
  readonly navigation: Navigation;
  readonly key: string;
}

/** Where a page begins. */
export type Position =
  | { readonly kind: 'start' }
  /** After this key, in key order, whether its record exists or not. */
  | { readonly kind: 'after-key'; readonly key: string }
  /** After the row with these values of the order's terms, and this key. */
  | { readonly kind: 'after-row'; readonly values: readonly BoundValue[]; readonly key: string }
  | { readonly kind: 'offset'; readonly skip: number };

/** How each record is written. */
export type Shape =
  | ResoShape
  | NativeListingShape
  /** A sub-resource of a listing as it was written when it was stored. */
  | {
      readonly kind: 'native-part';
      readonly part: NativePart;
      /** The key of the listing that it is part of; absent where those of all listings are given, which then name theirs. */
      readonly listing?: string;
      /** Beside Id and ResourceUri; absent: all. */
      readonly members?: readonly string[];
    };

export interface ResoShape {
  readonly kind: 'reso';
  readonly selection: Selection;
  readonly computed: readonly Computed[];
  readonly expansions: readonly Expansion[];
  readonly omitNulls: boolean;
  /**
   * As every copy has it: without what other records give it at request time (fields of agents and offices), and with the
   * custom fields in the order of their names, whatever their place was declared to be.
   */
  readonly ownOnly?: boolean;
  /** `"Field@Core.Permissions":"None"` in place of each hidden field. */
  readonly annotateHidden: boolean;
  /**
   * The control information that each record tells of itself; absent: none. `before` stands before the names of built-in
   * types, as a version of OData has it. The custom fields of a record (`isPart`) are a part of it, which has no address.
   */
  readonly control?: { readonly before: '#' | ''; readonly isPart?: true } | undefined;
  /** Root of the service, for references (`$ref`) and control information; ends with `/`. */
  readonly root: string;
}

/** The shape of the custom fields of a record, which are a part of it. */
export const partShape = (shape: ResoShape): ResoShape =>
  shape.control === undefined ? shape : { ...shape, control: { ...shape.control, isPart: true } };

export interface NativeListingShape {
  readonly kind: 'native-listing';
  readonly display: 'Summary' | 'Detail';
  readonly selection: Selection;
  /** Beside the selected fields. */
  readonly computed?: readonly Computed[];
  readonly expansions: readonly NativeExpansion[];
  /** What is given of the records of an expansion; of the others all. */
  readonly members?: SelectedMembers;
}

/** The expansions of a native listing that give sub-resources. */
export type NativePartExpansion = Exclude<NativeExpansion, 'CustomFields' | 'Supplement'>;

/** The sub-resource that an expansion of a native listing gives. */
export const partNamed = (expansion: NativePartExpansion): NativePart =>
  partOfExpansion(expansion === 'PrimaryPhoto' ? 'Photos' : expansion);

/** How the addresses of served files are made: absolute, signed for the role until a moment. */
export interface FileSigning {
  /** Address of the surface, without a slash at the end. */
  readonly base: string;
  readonly role: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export interface PageRequest {
  readonly query: RecordQuery;
  readonly position: Position;
  /** Rows of the page; whether one more exists is looked up beside. */
  readonly limit: number;
  readonly shape: Shape;
  readonly files: FileSigning;
}

/** A page of records by the ids of a list that was found before; what is gone or hidden by now is left out. */
export interface ListPageRequest {
  readonly query: Pick<RecordQuery, 'view' | 'resource' | 'now' | 'order'>;
  /** In the order of the page. */
  readonly ids: Uint32Array;
  readonly limit: number;
  readonly shape: Shape;
  readonly files: FileSigning;
}

/** One record by its key, in full. */
export interface RecordRequest {
  readonly query: RecordQuery;
  readonly key: string;
  readonly shape: Shape;
  readonly files: FileSigning;
}

/** A value of a merged record: a field of its own, or of a record that to-one navigations lead to. */
export interface MergedMember {
  readonly name: string;
  readonly via: readonly Navigation[];
  readonly field: Field;
}

/** Records of several resources in one collection, by key, then by the name of the resource. */
export interface MergedRequest {
  readonly sources: readonly MergedSource[];
  readonly skip: number;
  readonly limit: number;
  readonly files: FileSigning;
}

export interface MergedSource {
  /** The orders of all sources have the same number of terms, in the same directions. */
  readonly query: RecordQuery;
  readonly members: readonly MergedMember[];
  /** The collection of media that is given as `Images`. */
  readonly images?: Navigation;
}

export interface LastRow {
  readonly key: string;
  /** The values of the order's terms in this row, in the engine's own form. */
  readonly values: readonly BoundValue[];
}

/**
 * The end of an answer, which comes from the store as fast as it is taken. It is read once. Whoever takes it holds what
 * it comes from, so it is taken soon, or the page is released.
 */
export interface Rest extends AsyncIterable<Uint8Array> {
  /** Bytes of all of it. */
  readonly length: number;
}

export interface Page {
  /** JSON texts of the records, joined by commas: all of them, or the first. */
  readonly body: Uint8Array;
  /** What follows the body, where the page is large and the engine can read it while it is sent. */
  readonly rest?: Rest;
  readonly rows: number;
  readonly more: boolean;
  /** Absent when the page has no row. */
  readonly last?: LastRow;
  /** To be called once body and rest are not needed any more: their memory, and where they come from, is used again. */
  readonly release?: () => void;
  /** For a page of a list: how many of its ids are behind it now. */
  readonly consumed?: number;
}
