/** What the languages may name: the dictionary as one key sees it. Access provides it. */
import type { Field, Lookup, Navigation, Resource } from '../dictionary/types.ts';

export type FieldLookup =
  | { readonly kind: 'visible'; readonly field: Field }
  /** It exists, but the role may not see it: left out of a selection, unknown everywhere else. */
  | { readonly kind: 'hidden'; readonly field: Field }
  | { readonly kind: 'unknown' };

/** One resource as a key sees it. */
export interface ResourceSchema {
  readonly resource: Resource;
  /** By its RESO name or an alias of it. */
  findField(name: string): FieldLookup;
  /** By its native name. Custom fields are found by group and label instead. */
  findNativeField(name: string): FieldLookup;
  findCustomField(group: string, label: string): FieldLookup;
  /** A navigation whose target the key may read; other names are understood. */
  findNavigation(name: string): Navigation | undefined;
  /** The same, also where nothing has been stored yet of what it leads to: an expansion is empty then. */
  findExpansion(name: string): Navigation | undefined;
  /** Names of the fields and navigations that may be told in a suggestion. */
  names(): Iterable<string>;
  nativeNames(): Iterable<string>;
  /** Names that only the native interface has, each with the RESO name of the same; those that `names` may tell. */
  nativeCounterparts(): Iterable<readonly [native: string, name: string]>;
}

export interface Schema {
  /** By entity set name or another name of it; undefined when the key may not know it. */
  find(entitySet: string): ResourceSchema | undefined;
  /** By resource name; for the targets of navigations. */
  of(resource: Resource | string): ResourceSchema;
  lookup(name: string): Lookup | undefined;
  /** Whether lookups are enumerations to clients: values are then named as members of those. */
  readonly enumerations: boolean;
  entitySets(): Iterable<string>;
  /** What paths may begin with: entity sets, and other names of them. */
  pathNames(): Iterable<string>;
}
