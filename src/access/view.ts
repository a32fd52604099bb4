/** Views: a store's records as one key sees them. Rules say what a role may see; a view joins them with what a store carries. */
import type { Dictionary, Field, Resource } from '../dictionary/index.ts';
import { makeSchema, type Schema } from '../query/schema.ts';
import type { Role } from './rules.ts';

/** Which rows a request may see; every statement that reads records applies it. */
export interface RowScope {
  /** The bit of the role in each row's visibility. */
  readonly bit: number;
  /**
   * Originating systems; undefined: all. Resources without an originating system of their own are never filtered by it.
   */
  readonly systems?: readonly string[];
  /** Whether withheld values read as null. */
  readonly withholds: boolean;
  /** Set in the floor plan interface, which has no other media. */
  readonly onlyFloorPlans: boolean;
}

/** The names that a key may use, and the rows and fields that it gets. */
export interface View {
  readonly role: Role;
  readonly scope: RowScope;
  readonly schema: Schema;
  /** Whether values of lookups are given as members of enumerations. */
  readonly enumerations: boolean;
  /** Whether the key can read a resource that holds records or is always published. */
  readonly publishes: (resource: Resource) => boolean;
  /** Fields that a whole record and the metadata have, in the order of the dictionary. */
  readonly fieldsOf: (resource: Resource) => readonly Field[];
  /** Fields in use that the role may not see. */
  readonly hiddenOf: (resource: Resource) => readonly Field[];
}

/** What a view is made of. */
interface ViewSource {
  readonly dictionary: Dictionary;
  readonly role: Role;
  readonly scope: RowScope;
  /** Whether the store carries a field; others are null everywhere. */
  readonly inUse: (field: Field) => boolean;
  readonly holdsData: (resource: string) => boolean;
  /** Whether the key's clients get lookups as enumerations; absent: as strings. */
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
  const visible = new Map<string, readonly Field[]>();
  const hidden = new Map<string, readonly Field[]>();
  const fieldsWhere = (
    cache: Map<string, readonly Field[]>,
    resource: Resource,
    seen: boolean,
  ): readonly Field[] => {
    const known = cache.get(resource.name);
    if (known !== undefined) return known;
    const found = [...resource.fields.values()].filter(
      (field) => inUse(field) && role.seesField(field) === seen,
    );
    cache.set(resource.name, found);
    return found;
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
    fieldsOf: (resource) => fieldsWhere(visible, resource, true),
    hiddenOf: (resource) => fieldsWhere(hidden, resource, false),
  };
}

/**
 * Whether a key is told of all changes of a resource. Floor plans come and go with the listings that they are of, and values of a
 * key that is restricted to systems with those that are in use; what is filled from changes has none.
 */
export function tracksChanges({ scope }: View, { name, fromChanges }: Resource): boolean {
  return !scope.onlyFloorPlans && fromChanges !== true && (name !== 'Lookup' || scope.systems === undefined);
}
