/** The requests that a store can answer, as data, the same for every engine. This module knows no SQL. */
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
import type { DeflatedList } from '../shared/gzip-member.ts';
import type { BoundValue } from './fragment.ts';

/** Selects records. The role of the view always restricts them. */
export interface RecordQuery {
  readonly view: View;
  readonly resource: Resource;
  readonly filter?: Expression;
  readonly search?: Search;
  /** Only children of this record. */
  readonly under?: Parent;
  /** Only this native sub-resource. */
  readonly part?: NativePart;
  /** Only rows of this list of ids, which the role saw when the list was made. */
  readonly among?: Uint32Array;
  /** Only rows after this one in the order. */
  readonly after?: LastRow;
  /** Empty: by key. The key is always the last term. */
  readonly order: readonly OrderTerm[];
  /** `now()` for the whole request, as a canonical timestamp. */
  readonly now: string;
}

export interface Parent {
  /** The navigation from the parent to these records. */
  readonly navigation: Navigation;
  readonly key: string;
}

/** Where a page begins. */
export type Position =
  | { readonly kind: 'start' }
  /** After this key, in key order, whether or not its record exists. */
  | { readonly kind: 'after-key'; readonly key: string }
  /** After the row with this key and these values of the order terms. */
  | { readonly kind: 'after-row'; readonly values: readonly BoundValue[]; readonly key: string }
  | { readonly kind: 'offset'; readonly skip: number };

/** The form in which each record is written. */
export type Shape =
  | ResoShape
  | NativeListingShape
  /** A sub-resource of a listing, in the form in which it was stored. */
  | {
      readonly kind: 'native-part';
      readonly part: NativePart;
      /**
       * The key of the listing that it belongs to; absent if sub-resources of all listings are returned, each with
       * the key of its listing.
       */
      readonly listing?: string;
      /** Members to return in addition to Id and ResourceUri; absent: all. */
      readonly members?: readonly string[];
    };

export interface ResoShape {
  readonly kind: 'reso';
  readonly selection: Selection;
  readonly computed: readonly Computed[];
  readonly expansions: readonly Expansion[];
  readonly omitNulls: boolean;
  /**
   * The form that is the same in every copy of the record: without values that other records supply at request time (fields of
   * agents and offices), and with custom fields in the order of their names, whatever their declared order.
   */
  readonly ownOnly?: boolean;
  /** Whether `"Field@Core.Permissions":"None"` stands in place of each hidden field. */
  readonly annotateHidden: boolean;
  /**
   * The control information of each record; absent: none. `before` precedes the names of built-in types, depending on
   * the OData version; `enumerations` are the lookups that have an enumeration type. The custom fields of a record
   * (`isPart`) belong to it and have no address.
   */
  readonly control?:
    | {
        readonly before: '#' | '';
        readonly enumerations: ReadonlySet<string>;
        readonly isPart?: boolean;
      }
    | undefined;
  /** Root of the service, for references (`$ref`) and control information; ends with `/`. */
  readonly root: string;
}

/** Records with these fields and nothing else. @param root the root of the service, if the shape needs it */
export const plainShape = (fields: readonly Field[], root = ''): ResoShape => ({
  kind: 'reso',
  selection: { all: false, fields, hidden: [] },
  computed: [],
  expansions: [],
  omitNulls: false,
  annotateHidden: false,
  root,
});

/** The shape of the custom fields of a record, which are part of it. */
export const shapeOfCustomFields = (shape: ResoShape): ResoShape =>
  shape.control === undefined ? shape : { ...shape, control: { ...shape.control, isPart: true } };

export interface NativeListingShape {
  readonly kind: 'native-listing';
  readonly display: 'Summary' | 'Detail';
  readonly selection: Selection;
  /** Values to return in addition to the selected fields. */
  readonly computed?: readonly Computed[];
  readonly expansions: readonly NativeExpansion[];
  /** The members to return of an expansion's records; all for expansions that are not named. */
  readonly members?: SelectedMembers;
}

/** The expansions of a native listing that return sub-resources. */
export type NativePartExpansion = Exclude<NativeExpansion, 'CustomFields' | 'Supplement'>;

/** The sub-resource that an expansion of a native listing returns. */
export const partOfNativeExpansion = (expansion: NativePartExpansion): NativePart =>
  partOfExpansion(expansion === 'PrimaryPhoto' ? 'Photos' : expansion);

/** How to make the addresses of served files: absolute, and signed for the role until a given time. */
export interface FileSigning {
  /** The address of the surface, without a trailing slash. */
  readonly base: string;
  readonly role: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export interface PageRequest {
  readonly query: RecordQuery;
  readonly position: Position;
  /** The number of rows. Whether another row follows is determined separately. */
  readonly limit: number;
  readonly shape: Shape;
  readonly files: FileSigning;
}

/** All records that a view shows after one key up to and including another. */
export interface KeptRange {
  readonly after: string;
  readonly last: string;
  readonly rows: number;
  /** The key of the last record; empty if there is none. */
  readonly lastKey: string;
}

/** A page of whole records in key order, some ranges of which the caller has cached. */
export interface BlocksRequest extends Pick<PageRequest, 'query' | 'limit' | 'shape' | 'files'> {
  /** The position in the sequence of changes at which the cached ranges were current. */
  readonly since: number;
  /** The key after which the page begins; empty: at the start. */
  readonly after: string;
  /** The cached ranges in key order, all of them after the beginning. */
  readonly kept: readonly KeptRange[];
  /** Whether few records have to be read in addition to the cached ranges. */
  readonly isSmall: boolean;
  /** The form in which the records that are read are returned. */
  readonly form: BlockForm;
}

/** Blocks of records, each compressed, or their plain texts. */
export type BlockForm = 'deflated' | 'text';

/** A page of a list of ids that an earlier search found. Records that have been deleted or hidden since are omitted. */
export interface ListPageRequest {
  readonly query: Pick<RecordQuery, 'view' | 'resource' | 'now' | 'order'>;
  /** In the order of the page. */
  readonly ids: Uint32Array;
  readonly limit: number;
  readonly shape: Shape;
  readonly files: FileSigning;
}

export interface RecordRequest {
  readonly query: RecordQuery;
  readonly key: string;
  readonly shape: Shape;
  readonly files: FileSigning;
}

/** A member of a merged record: a field of its own, or of a record that to-one navigations lead to. */
export interface MergedMember {
  readonly name: string;
  readonly via: readonly Navigation[];
  readonly field: Field;
}

/** Requests how often fields have each value among the records that a query selects, whatever their order. */
export interface FacetsRequest {
  readonly query: RecordQuery;
  /** Fields of the resource of the query. A list is counted by its values. */
  readonly fields: readonly Field[];
  /** The maximum number of values to return for a field: the most frequent ones. */
  readonly most: number;
  readonly histogram?: HistogramRanges | undefined;
}

/** A request for the number of values of a numeric field in each range between ascending edges. */
export interface HistogramRanges {
  readonly field: Field;
  readonly edges: readonly number[];
}

/** The counts of the values that a view shows: a withheld value counts as none. */
export interface Facets {
  readonly records: number;
  /** In the order of the fields that were requested. */
  readonly fields: readonly FieldFacet[];
  readonly histogram?: Histogram;
}

export interface FieldFacet {
  /** By the number of records, then by value. */
  readonly values: readonly { readonly value: string | number | boolean; readonly records: number }[];
  /** The number of further values. */
  readonly more: number;
  /** Records without a value. */
  readonly none: number;
}

export interface Histogram {
  /** The numbers of values below the first edge, from each edge up to the next, and from the last edge on. */
  readonly records: readonly number[];
  readonly none: number;
  /** Null if no record has a value. */
  readonly least: number | null;
  readonly greatest: number | null;
}

/** Records of several resources in one collection, ordered by key, then by the name of the resource. */
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
  /** The collection of media that is returned as `Images`. */
  readonly images?: Navigation;
}

interface LastRow {
  readonly key: string;
  /** The values of the order terms in this row, in the engine's own representation. */
  readonly values: readonly BoundValue[];
}

export interface Page {
  /** The JSON texts of the records, joined by commas. */
  readonly body: Uint8Array;
  /** The body compressed, as it is cached; `body` is empty then. */
  readonly deflated?: DeflatedList;
  readonly rows: number;
  readonly more: boolean;
  /** The key of the row that follows, if it is known. */
  readonly follower?: string;
  /** Absent if the page has no rows. */
  readonly last?: LastRow;
  /** Must be called once the body is no longer needed, so that its memory can be used again. */
  readonly release?: () => void;
  /** For a page of a list: the number of its ids that have been consumed. */
  readonly consumed?: number;
}
