/**
 * Views: a store's records as one key sees them. The rules determine what a role may see; a view combines them with what the store
 * contains.
 */
import type { Dictionary, Field, Resource } from '../dictionary/index.ts';
import { makeSchema, type Schema } from '../query/schema.ts';
import { memoizePerObject } from '../shared/memoize.ts';
import type { Role } from './rules.ts';

/** Which rows a request may see. Every statement that reads records applies it. */
export interface RowScope {
  /** The bit of the role in each row's visibility. */
  readonly bit: number;
  /**
   * The originating systems that the key is restricted to; undefined: all. Resources without an originating system are not filtered
   * by it.
   */
  readonly systems?: readonly string[];
  /** Whether withheld values read as null. */
  readonly withholds: boolean;
  /** True in the floor plan interface, which returns no other media. */
  readonly onlyFloorPlans: boolean;
}

/** The names that a key may use, and the rows and fields that it sees. */
export interface View {
  readonly role: Role;
  readonly scope: RowScope;
  readonly schema: Schema;
  /** Whether lookup values are returned as members of enumerations. */
  readonly enumerations: boolean;
  /** Whether the key can read a resource that holds records or is always published. */
  readonly publishes: (resource: Resource) => boolean;
  /** The fields of a complete record and of the metadata, in the order of the dictionary. */
  readonly fieldsOf: (resource: Resource) => readonly Field[];
  /** Fields in use that the role may not see. */
  readonly hiddenOf: (resource: Resource) => readonly Field[];
}

interface ViewSource {
  readonly dictionary: Dictionary;
  readonly role: Role;
  readonly scope: RowScope;
  /** Whether the field is in use in the store; other fields are null in every record. */
  readonly inUse: (field: Field) => boolean;
  readonly holdsData: (resource: string) => boolean;
  /** Whether lookups are enumerations for clients of the key; absent: strings. */
  readonly enumerations?: boolean;
}

export function makeView({
  dictionary,
  role,
  scope,
  inUse,
  holdsData,
  enumerations = false,
}: ViewSource): View {
  const publishes = (resource: Resource): boolean => {
    if (scope.onlyFloorPlans) return resource.name === 'Media';
    return role.readsResource(resource) && (resource.always || holdsData(resource.name));
  };
  const fieldsWhere = (seen: boolean): View['fieldsOf'] => {
    const isFound = (field: Field): boolean => inUse(field) && role.seesField(field) === seen;
    return memoizePerObject(({ fields }) => [...fields.values()].filter(isFound));
  };
  return {
    role,
    scope,
    enumerations,
    schema: makeSchema(dictionary, {
      resource: publishes,
      field: role.seesField,
      enumerations,
      readable: (resource) => !scope.onlyFloorPlans && role.readsResource(resource),
    }),
    publishes,
    fieldsOf: fieldsWhere(true),
    hiddenOf: fieldsWhere(false),
  };
}

/**
 * Whether the sequence of changes covers every change of what a key sees of a resource. Three cases are excluded: in the floor plan
 * interface, visibility depends on the listing; for a key that is restricted to systems, the values of Lookup depend on the values
 * in use; and a resource that is filled from changes has no changes of its own.
 */
export function tracksChanges({ scope }: View, { name, fromChanges }: Resource): boolean {
  return !scope.onlyFloorPlans && fromChanges !== true && (name !== 'Lookup' || scope.systems === undefined);
}
