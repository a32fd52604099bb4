import type { Dictionary, Field, Resource } from '../dictionary/index.ts';
import { makeSchema } from '../query/make-schema.ts';
import type { Schema } from '../query/schema.ts';
import type { Role } from './rules.ts';

/** Which rows a request may see; woven into every statement that reads records. */
export interface RowScope {
  /** The bit of the role in each row's visibility. */
  readonly bit: number;
  /** Originating systems; undefined: all. */
  readonly systems?: readonly string[];
  /** Whether withheld values read as null. */
  readonly withholds: boolean;
  /** The floor plan interface knows no other media. */
  readonly onlyFloorPlans: boolean;
}

/** A store's records as one key sees them: the names it may use, the rows and fields it gets. */
export interface View {
  readonly role: Role;
  readonly scope: RowScope;
  readonly schema: Schema;
  /** Whether values of lookups are given as members of enumerations. */
  readonly enumerations: boolean;
  /** Resources without an originating system of their own are never filtered by it. */
  readonly publishes: (resource: Resource) => boolean;
  /** Fields that stand in a whole record and in the metadata, in the order of the dictionary. */
  readonly fieldsOf: (resource: Resource) => readonly Field[];
  /** Fields in use that the role may not see. */
  readonly hiddenOf: (resource: Resource) => readonly Field[];
}

/** What a view is made of. `inUse` tells the fields that the store carries; others are null everywhere. */
export interface ViewSource {
  readonly dictionary: Dictionary;
  readonly role: Role;
  readonly scope: RowScope;
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
