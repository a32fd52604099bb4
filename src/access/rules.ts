import type { Dictionary, Field, Resource } from '../dictionary/index.ts';
import { platError } from '../errors/index.ts';
import { makeSchema } from '../query/make-schema.ts';
import { parseFilter } from '../query/odata/index.ts';
import type { Expression } from '../query/tree.ts';
import { dependsOnDay, resolveDayTerms } from './day-terms.ts';
import type { AccessDefinition, RoleDefinition } from './definition.ts';

/** A role's filter of one resource. The store keeps its outcome as one bit of each row. */
export interface RowRule {
  readonly role: string;
  /** A power of two, the same for all resources of a store. */
  readonly bit: number;
  /** Absent: every row. */
  readonly filter?: Expression;
}

/** Classes of a resource that read as null where the condition does not hold; one bit of each row, too. */
export interface WithheldRule {
  readonly bit: number;
  readonly classes: ReadonlySet<string>;
  readonly shownWhen: Expression;
}

/** What a role may name and see. */
export interface Role {
  readonly name: string;
  readonly bit: number;
  readonly seesWithheld: boolean;
  readonly seesField: (field: Field) => boolean;
  readonly readsResource: (resource: Resource | string) => boolean;
}

/** An access definition, resolved against a dictionary for one UTC day. */
export interface AccessRules {
  readonly roles: ReadonlyMap<string, Role>;
  /** Whether tomorrow's rules may differ. */
  readonly dependsOnDay: boolean;
  readonly rowRules: (resource: string) => readonly RowRule[];
  readonly withheldRules: (resource: string) => readonly WithheldRule[];
}

/**
 * Parses every filter of the definition.
 * @param today the UTC day that `{today}` stands for, `YYYY-MM-DD`
 * @throws PlatError of the OData parser, when a filter is wrong
 */
export function resolveAccess(
  definition: AccessDefinition,
  dictionary: Dictionary,
  today: string,
): AccessRules {
  const schema = makeSchema(dictionary);
  const parse = (resource: string, filter: string): Expression => {
    const named = schema.find(resource);
    if (named === undefined) throw platError('resourceUnknown', { name: resource });
    return parseFilter(resolveDayTerms(filter, today), named, schema);
  };

  const roles = definition.roles.map((role, index) => makeRole(role, 2 ** index));
  const rowRules = Map.groupBy(
    definition.roles.flatMap((role, index) => rulesOfRole(role, 2 ** index, dictionary, parse)),
    ({ resource }) => resource,
  );
  const withheld = Map.groupBy(
    definition.withheld.map((entry, index) => ({
      resource: entry.resource,
      bit: 2 ** index,
      classes: new Set(entry.classes),
      shownWhen: parse(entry.resource, entry.shownWhen),
    })),
    ({ resource }) => resource,
  );
  const filters = definition.roles.flatMap((role) =>
    role.resources === 'all' ? [] : Object.values(role.resources),
  );
  return {
    roles: new Map(roles.map((role) => [role.name, role])),
    dependsOnDay: filters.some(dependsOnDay),
    rowRules: (resource) => rowRules.get(resource) ?? [],
    withheldRules: (resource) => withheld.get(resource) ?? [],
  };
}

function makeRole(definition: RoleDefinition, bit: number): Role {
  const { name, classes, resources } = definition;
  const sees = classes === 'all' ? undefined : new Set(['open', ...classes]);
  return {
    name,
    bit,
    seesWithheld: definition.seesWithheld ?? false,
    seesField: (field) => sees?.has(field.class) ?? true,
    readsResource: (resource) =>
      resources === 'all' ||
      Object.hasOwn(resources, typeof resource === 'string' ? resource : resource.name),
  };
}

function rulesOfRole(
  role: RoleDefinition,
  bit: number,
  dictionary: Dictionary,
  parse: (resource: string, filter: string) => Expression,
): (RowRule & { resource: string })[] {
  const { name, resources } = role;
  if (resources === 'all') {
    return [...dictionary.resources.keys()].map((resource) => ({ resource, role: name, bit }));
  }
  return Object.entries(resources).map(([resource, filter]) =>
    filter === ''
      ? { resource, role: name, bit }
      : { resource, role: name, bit, filter: parse(resource, filter) },
  );
}
