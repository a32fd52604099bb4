/**
 * The model of a `$metadata` document, independent of its format (OData CSDL 4.01, XML and JSON representations). Both
 * formats are written from it, so that they cannot differ in content.
 */

export type CsdlVersion = '4.0' | '4.01';

/** The primitive types that values of the dictionary have (CSDL 3.3). */
export type EdmType =
  | 'Edm.String'
  | 'Edm.Int64'
  | 'Edm.Decimal'
  | 'Edm.Boolean'
  | 'Edm.Date'
  | 'Edm.DateTimeOffset';

/** A text, a flag, or a record of flags. */
export type AnnotationValue = string | boolean | Readonly<Record<string, boolean>>;

/** An annotation (CSDL 14.3). The term is qualified by its namespace, or by the alias that a reference gives it. */
export interface Annotation {
  readonly term: string;
  readonly value: AnnotationValue;
}

/** A type that the document defines itself. */
interface EnumerationType {
  /** The name with its namespace. */
  readonly enumeration: string;
}

/** A structural property (CSDL 7). */
export interface Property {
  readonly name: string;
  readonly type: EdmType | EnumerationType;
  readonly collection: boolean;
  /** Whether the value, or a member of the collection, may be null. */
  readonly nullable: boolean;
  readonly maxLength?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly annotations: readonly Annotation[];
}

/** A navigation property (CSDL 8). */
export interface NavigationProperty {
  readonly name: string;
  /** Name of the entity type. */
  readonly target: string;
  readonly collection: boolean;
  /** The target is part of the record, and in no entity set (CSDL 8.4). */
  readonly contained?: true;
  /** The property of this record that contains the key of the other record (CSDL 8.5). */
  readonly constraint?: { readonly property: string; readonly referencedProperty: string };
}

/** An entity type (CSDL 6). Every type of the dictionary has a key of one property. */
export interface EntityType {
  readonly name: string;
  readonly key: string;
  readonly properties: readonly Property[];
  readonly navigationProperties: readonly NavigationProperty[];
}

/** An enumeration type (CSDL 10). Its members have the default values, counted from 0. */
export interface EnumType {
  readonly name: string;
  readonly members: readonly { readonly name: string; readonly annotations: readonly Annotation[] }[];
}

/** An entity set (CSDL 13.2). */
export interface EntitySet {
  readonly name: string;
  /** Name of the entity type. */
  readonly type: string;
  readonly bindings: readonly { readonly path: string; readonly target: string }[];
  readonly annotations: readonly Annotation[];
}

/** The entity container (CSDL 13). */
export interface EntityContainer {
  readonly name: string;
  readonly entitySets: readonly EntitySet[];
  readonly annotations: readonly Annotation[];
}

/** The definition of a term whose values are texts (CSDL 14.1). */
export interface Term {
  readonly name: string;
  readonly appliesTo: 'Property' | 'Member';
  readonly description: string;
}

/** A vocabulary that is defined in the document itself. */
export interface Vocabulary {
  readonly namespace: string;
  readonly terms: readonly Term[];
}

/** A vocabulary that is defined elsewhere (CSDL 4.1, 4.2). */
export interface VocabularyReference {
  readonly namespace: string;
  readonly alias: string;
  /** The address at which it is published, without the extension that selects XML or JSON. */
  readonly uri: string;
}

export interface CsdlDocument {
  readonly version: CsdlVersion;
  readonly references: readonly VocabularyReference[];
  readonly namespace: string;
  readonly entityTypes: readonly EntityType[];
  /** In their own namespace; empty if lookups are strings. */
  readonly enumerations: { readonly namespace: string; readonly types: readonly EnumType[] };
  readonly container: EntityContainer;
  readonly vocabularies: readonly Vocabulary[];
}
