/**
 * The structure of records: resources, their fields, and the navigations between records. All of it is data that is read from
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

/** A record by its fields; an absent field is null. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/**
 * A class of fields with the same visibility. A role sees a set of classes; every role sees `open`. docs/roles.md explains the
 * standard classes; an operator may add others.
 */
export type VisibilityClass = string;

/** A field whose value is read from another record at request time (specification 2.4, rule 1). */
export interface JoinedFrom {
  /** The field of this record that contains the other record's key, such as `ListAgentKey`. */
  readonly link: string;
  readonly resource: string;
  readonly field: string;
}

/** The place of a custom field, as its operator declares it (specification 2.4, rule 2). */
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
  /** The field of this resource whose value is looked up; for a collection, always its key. */
  readonly local: string;
  /** The field of the target that is compared; for a to-one navigation, usually its key. */
  readonly remote: string;
}

/** An index of a resource, which exists once its fields are in use. */
export interface SearchIndex {
  readonly fields: readonly string[];
  /** Further fields that searches with this index name. Their values are in the index, so that such a search reads no records. */
  readonly covers: readonly string[];
}

export interface Resource {
  readonly name: string;
  readonly key: string;
  /** Whether the resource is published even if it has no records. */
  readonly always: boolean;
  /**
   * The store fills the resource from its sequence of changes (RESO RCP-27), for every role. It has no tables, and nothing can be
   * imported into it.
   */
  readonly fromChanges?: true;
  /** The store fills the resource from its records and the dictionary. Nothing else can be written into it. */
  readonly fromContents?: true;
  /** Other names of the entity set, such as `Room` for `PropertyRooms`. */
  readonly otherNames: readonly string[];
  readonly fields: ReadonlyMap<string, Field>;
  /** Other spellings of a field that input and filters may use. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  readonly navigations: ReadonlyMap<string, Navigation>;
  /**
   * The indexes of the resource in addition to that of its key. Fields that are compared for equality come first, so that an order
   * by key after them needs no sort.
   */
  readonly searchedBy: readonly SearchIndex[];
  /**
   * Short fields that filters use, in addition to those in `searchedBy`; absent for a resource that is not large. Their values are
   * also stored in a search table, which filters and orders read instead of complete records.
   */
  readonly filteredBy?: readonly string[];
  /** How a record of this resource refers to its parent; absent for resources without parents. */
  readonly parent?: ParentLink;
}

/** A child refers to its parent by key, or, as media do, by resource and key. */
export type ParentLink =
  | { readonly kind: 'fixed'; readonly resource: string; readonly keyField: string }
  | { readonly kind: 'named'; readonly resourceField: string; readonly keyField: string };

export interface LookupValue {
  readonly value: string;
  /** Its name in the OData enumerations of older servers. */
  readonly legacy?: string;
}

export interface Lookup {
  readonly name: string;
  /** A closed lookup accepts no other values. */
  readonly closed: boolean;
  readonly values: ReadonlyMap<string, LookupValue>;
  /** Maps every accepted spelling to the value. */
  readonly spellings: ReadonlyMap<string, string>;
}

export interface Dictionary {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly lookups: ReadonlyMap<string, Lookup>;
}
