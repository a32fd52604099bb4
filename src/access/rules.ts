/**
 * Access rules: the roles of a definition, resolved against a dictionary for one day. Row filters are parsed to query trees here.
 * This module does not know which key sends a request or which store answers it.
 */
import type { Dictionary, Field, Resource } from '../dictionary/index.ts';
import { PlatError, platError, usageError } from '../errors/index.ts';
import { ownFieldsOf } from '../query/fields-of.ts';
import { parseFilter } from '../query/odata/query.ts';
import { makeSchema } from '../query/schema.ts';
import type { Expression } from '../query/tree.ts';
import { MOST_BITS, type RoleBits } from './role-bits.ts';
import { type AccessDefinition, dependsOnDay, type RoleDefinition, resolveDayTerms } from './roles.ts';

/** A role's filter of one resource. The store saves its result as one bit of each row. */
export interface RowRule {
  /** Of the role: a power of two, the same in all resources of a store. */
  readonly bit: number;
  /** Absent: every row is visible. */
  readonly filter?: Expression;
}

/** Classes of a resource that read as null in rows for which the condition is false. The result is also one bit of each row. */
export interface WithheldRule {
  readonly bit: number;
  readonly classes: ReadonlySet<string>;
  readonly shownWhen: Expression;
}

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
  /** The resources whose rows may have another visibility tomorrow. */
  readonly movesWithDay: ReadonlySet<string>;
  readonly rowRules: (resource: string) => readonly RowRule[];
  readonly withheldRules: (resource: string) => readonly WithheldRule[];
}

/**
 * Parses every filter of a definition.
 *
 * @param today the UTC day that `{today}` stands for, `YYYY-MM-DD`
 * @param bits the bits of all roles of the definition; absent: in the order of the roles
 * @throws PlatError `usage` if a filter is invalid or reads other records, since its result is stored with the record, or if there
 * are too many roles
 */
export function resolveAccess(
  definition: AccessDefinition,
  dictionary: Dictionary,
  today: string,
  bits: RoleBits = definition.roles.map(({ name }) => name),
): AccessRules {
  const schema = makeSchema(dictionary);
  const parse = (resource: string, filter: string): Expression => {
    const what = `The row filter ${filter} of ${resource}`;
    try {
      const parsed = parseFilter(resolveDayTerms(filter, today), schema.of(resource), schema);
      if (ownFieldsOf(parsed) !== undefined) return parsed;
    } catch (error) {
      if (!(error instanceof PlatError)) throw error;
      // The parser takes the filter for the option of a request.
      throw usageError(`${what} is invalid: ${error.message.replace(/^\$filter: /, '')}`, { cause: error });
    }
    throw invalidDefinition(`${what} looks beyond the record's own fields`);
  };
  checkNames(definition, dictionary);

  const readableByAll = new Set(
    [...dictionary.resources.values()].filter(({ fromChanges }) => fromChanges).map(({ name }) => name),
  );
  const bitOf = ({ name }: RoleDefinition): number => {
    const index = bits.indexOf(name);
    if (index < 0) throw new Error(`The role ${name} has no bit`);
    return 2 ** index;
  };
  const roles = definition.roles.map((role) => makeRole(role, bitOf(role), readableByAll));
  const rowRules = Map.groupBy(
    definition.roles.flatMap((role) => rulesOfRole(role, bitOf(role), dictionary, parse)),
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
  const moving = definition.roles.flatMap(({ resources }) =>
    Object.entries(resources === 'all' ? {} : resources).filter(([, filter]) => dependsOnDay(filter)),
  );
  const movingWithheld = definition.withheld.filter(({ shownWhen }) => dependsOnDay(shownWhen));
  return {
    roles: new Map(roles.map((role) => [role.name, role])),
    movesWithDay: new Set([
      ...moving.map(([resource]) => resource),
      ...movingWithheld.map(({ resource }) => resource),
    ]),
    rowRules: (resource) => rowRules.get(resource) ?? [],
    withheldRules: (resource) => withheld.get(resource) ?? [],
  };
}

const invalidDefinition = (reason: string) => usageError(`${reason}.`);

/** @throws PlatError `usage` if a definition names a class that no field has */
export function mustNameClasses({ roles, withheld }: AccessDefinition, { resources }: Dictionary): void {
  const fields = [...resources.values()].flatMap((each) => [...each.fields.values()]);
  const known = new Set(fields.map((field) => field.class));
  const named = [...roles, ...withheld].flatMap(({ classes }) => (classes === 'all' ? [] : classes));
  const unknown = named.find((each) => !known.has(each));
  if (unknown === undefined) return;
  throw invalidDefinition(
    `There is no field of the class ${unknown}; there are ${[...known].toSorted().join(', ')}`,
  );
}

function checkNames({ roles, withheld }: AccessDefinition, { resources }: Dictionary): void {
  const names = roles.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw invalidDefinition(`The role ${twice} is defined twice`);
  if (Math.max(names.length, withheld.length) > MOST_BITS) {
    throw invalidDefinition(`More than ${MOST_BITS} roles, or withheld parts, are not possible`);
  }
  const named = roles.flatMap(({ resources: rules }) => (rules === 'all' ? [] : Object.keys(rules)));
  const unknown = [...named, ...withheld.map(({ resource }) => resource)].find(
    (each) => !resources.has(each),
  );
  if (unknown !== undefined) throw platError('resourceUnknown', { name: unknown });
}

/** @param readableByAll the resources that every role may read */
function makeRole(definition: RoleDefinition, bit: number, readableByAll: ReadonlySet<string>): Role {
  const { name, classes, resources } = definition;
  const visibleClasses = classes === 'all' ? undefined : new Set(['open', ...classes]);
  return {
    name,
    bit,
    seesWithheld: definition.seesWithheld ?? false,
    seesField: (field) => visibleClasses?.has(field.class) ?? true,
    readsResource: (resource) => {
      const named = typeof resource === 'string' ? resource : resource.name;
      return resources === 'all' || readableByAll.has(named) || Object.hasOwn(resources, named);
    },
  };
}

function rulesOfRole(
  { resources }: RoleDefinition,
  bit: number,
  dictionary: Dictionary,
  parse: (resource: string, filter: string) => Expression,
): (RowRule & { resource: string })[] {
  if (resources === 'all') return [...dictionary.resources.keys()].map((resource) => ({ resource, bit }));
  return Object.entries(resources).map(([resource, filter]) => ({
    resource,
    bit,
    filter: filter === '' ? undefined : parse(resource, filter),
  }));
}
