/**
 * The roles of a store as an operator sees them: the definitions in force, resolved against the published resources and
 * the fields in use. It must not know records: the interfaces show what a role sees of them (see-as.ts).
 */
import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_ACCESS, type RoleDefinition, type WithheldDefinition } from '../../access/index.ts';
import { dependsOnDay, resolveDayTerms } from '../../access/roles.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field, Resource, VisibilityClass } from '../../dictionary/index.ts';

/** The rows of a resource that a role sees. */
interface SeenRows {
  /** The row filter as it is defined; empty: every row. */
  readonly filter: string;
  /** The row filter with the dates of the current day, if it depends on the day. */
  readonly today?: string;
}

interface SeenRole {
  readonly name: string;
  /** Whether the operator has defined the role, or redefined a built-in one. */
  readonly isOwn: boolean;
  /** The classes of the fields that the role may name. */
  readonly classes: readonly VisibilityClass[];
  readonly seesWithheld: boolean;
  /** The visible rows by resource; a resource that is not listed does not exist for the role. */
  readonly rows: Readonly<Record<string, SeenRows>>;
}

interface ClassedResource {
  readonly name: string;
  readonly key: string;
  /** The names of the fields in use, by class. */
  readonly fields: Readonly<Record<VisibilityClass, readonly string[]>>;
}

/** The response of `GET /roles`. */
interface RolesInForce {
  /** The UTC day that the rules apply to. */
  readonly day: string;
  readonly classes: readonly VisibilityClass[];
  readonly roles: readonly SeenRole[];
  readonly withheld: readonly WithheldDefinition[];
  readonly resources: readonly ClassedResource[];
}

/** The classes that docs/roles.md explains, from the most to the least visible. Those that an operator defines follow. */
const STANDARD = ['open', 'idx', 'address', 'facts', 'address-facts', 'history', 'private'];

export function rolesInForce(model: StoreModel): RolesInForce {
  const { dictionary, settings, rules, day, stores, inUse } = model;
  // The record of an event determines who sees the event.
  const published = [...dictionary.resources.values()].filter(
    ({ always, fromChanges, name }) => !fromChanges && (always || stores(name)),
  );
  const used = new Map(
    published.map((resource) => [resource, [...resource.fields.values()].filter((field) => inUse(field))]),
  );
  const classes = new Set([...STANDARD, ...[...used.values()].flat().map((field) => field.class)]);
  const describeRole = (definition: RoleDefinition): SeenRole => {
    const { name, resources, seesWithheld = false } = definition;
    const readable = published.filter((resource) => rules.roles.get(name)?.readsResource(resource));
    return {
      name,
      isOwn: !BUILT_IN_ACCESS.roles.some((builtIn) => isDeepStrictEqual(builtIn, definition)),
      classes: definition.classes === 'all' ? [...classes] : namedOf(definition.classes),
      seesWithheld,
      rows: Object.fromEntries(
        readable.map((resource) => [
          resource.name,
          rowsOf(resources === 'all' ? '' : (resources[resource.name] ?? ''), day),
        ]),
      ),
    };
  };
  return {
    day,
    classes: [...classes],
    roles: settings.access.roles.map(describeRole),
    withheld: settings.access.withheld,
    resources: [...used].map(([resource, fields]) => classed(resource, fields)),
  };
}

/** The class `open` is always included. */
const namedOf = (classes: readonly VisibilityClass[]): VisibilityClass[] => [
  ...new Set(['open', ...classes]),
];

const rowsOf = (filter: string, day: string): SeenRows => ({
  filter,
  ...(dependsOnDay(filter) ? { today: resolveDayTerms(filter, day) } : {}),
});

const classed = ({ name, key }: Resource, fields: readonly Field[]): ClassedResource => ({
  name,
  key,
  fields: Object.fromEntries(
    [...Map.groupBy(fields, (field) => field.class)].map(([kind, of]) => [kind, of.map((each) => each.name)]),
  ),
});
