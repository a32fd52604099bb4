/**
 * What a record is: resources, their fields, and the navigations between records. Everything here is data that is read from
 * tables; no module of plat repeats it in code.
 */

/** The type of one value. A decimal of scale 0 is an integer. */
export type ScalarType =
  | { readonly kind: 'string'; readonly maxLength?: number }
  | { readonly kind: 'integer'; readonly digits?: number }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'date' }
  | { readonly kind: 'timestamp' };

/** One stored or returned value; timestamps and dates are canonical texts. */
export type FieldValue = string | number | boolean | null | readonly string[];

/** A record as its fields: an absent field is null. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/**
 * Which part of a record a field belongs to. A role sees a set of classes; `open` is seen by all.
 * The standard classes are explained in docs/roles.md; an operator may add others.
 */
export type VisibilityClass = string;

/** A field whose value is read, at request time, from another record (specification 2.4, rule 1). */
export interface JoinedFrom {
  /** The field of this record that holds the other record's key, such as `ListAgentKey`. */
  readonly link: string;
  readonly resource: string;
  readonly field: string;
}

/** Where a custom field belongs, as its operator declares it (specification 2.4, rule 2). */
export interface CustomOrigin {
  readonly section: 'Main' | 'Details';
  readonly group: string;
  /** The current name; the API name may be an older one. */
  readonly label: string;
}

export interface Field {
  readonly resource: string;
  /** The name in the RESO interface. */
  readonly name: string;
  /** The name in the native interface. */
  readonly nativeName: string;
  readonly type: ScalarType;
  /** True for a multi-valued lookup. */
  readonly collection: boolean;
  readonly lookup?: string;
  readonly class: VisibilityClass;
  readonly joined?: JoinedFrom;
  readonly custom?: CustomOrigin;
}

/** A navigation from a record to another one, or to its children. */
export interface Navigation {
  readonly resource: string;
  readonly name: string;
  readonly target: string;
  readonly collection: boolean;
  /** The field of this resource whose value is looked up; for a collection always its key. */
  readonly local: string;
  /** The field of the target that is compared; for a to-one navigation usually its key. */
  readonly remote: string;
}

/** An index of a resource, as soon as its fields are in use. */
export interface SearchIndex {
  readonly fields: readonly string[];
  /** Fields that searches by this index also name: with their values in it, such a search reads no record. */
  readonly covers: readonly string[];
}

export interface Resource {
  readonly name: string;
  readonly key: string;
  /** Published even while it has no record. */
  readonly always: boolean;
  /**
   * The store itself fills the resource, from its sequence of changes (RESO RCP-27), and for every role: it has no tables, and
   * nothing can be imported into it.
   */
  readonly fromChanges?: true;
  /** Other names of the entity set, such as `Room` for `PropertyRooms`. */
  readonly otherNames: readonly string[];
  readonly fields: ReadonlyMap<string, Field>;
  /** Other spellings of a field that input and filters may use. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  readonly navigations: ReadonlyMap<string, Navigation>;
  /**
   * The fields by which the resource is searched, in addition to its key. Fields that are compared for equality come
   * first, so that an order by key after them needs no sort.
   */
  readonly searchedBy: readonly SearchIndex[];
  /**
   * The short fields that filters name, in addition to those of `searchedBy`; absent for a resource that is not large.
   * Their values are also in a search table, which filters and orders read instead of whole records.
   */
  readonly filteredBy?: readonly string[];
  /** How a record of this resource names the record it is part of; absent for resources that stand alone. */
  readonly parent?: ParentLink;
}

/** A child names its parent by key alone, or (media and their like) by resource and key. */
export type ParentLink =
  | { readonly kind: 'fixed'; readonly resource: string; readonly keyField: string }
  | { readonly kind: 'named'; readonly resourceField: string; readonly keyField: string };

export interface LookupValue {
  readonly value: string;
  /** The name that OData enumerations of older servers use for it. */
  readonly legacy?: string;
}

export interface Lookup {
  readonly name: string;
  /** A closed lookup accepts no other values. */
  readonly closed: boolean;
  readonly values: ReadonlyMap<string, LookupValue>;
  /** From any accepted spelling to the value. */
  readonly spellings: ReadonlyMap<string, string>;
}

export interface Dictionary {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly lookups: ReadonlyMap<string, Lookup>;
}
