/**
 * The roles of a store as an operator sees them: the definitions in force, resolved against the published resources and
 * the fields in use. It must not know records: the interfaces show what a role sees of them (view-as.ts).
 */
import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_ACCESS, type RoleDefinition } from '../../access/index.ts';
import { dependsOnDay, resolveDayTerms } from '../../access/roles.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Field, Resource } from '../../dictionary/index.ts';

/** The classes that docs/roles.md explains, from the most to the least visible. Those that an operator defines follow. */
const STANDARD = ['open', 'idx', 'address', 'facts', 'address-facts', 'history', 'private'];

/** The response of `GET /roles`. */
export function rolesInForce(model: StoreModel): object {
  const { dictionary, settings, rules, day, stores, inUse } = model;
  // The record of an event determines who sees the event.
  const published = [...dictionary.resources.values()].filter(
    ({ always, fromChanges, name }) => !fromChanges && (always || stores(name)),
  );
  const used = new Map(
    published.map((resource) => [resource, [...resource.fields.values()].filter((field) => inUse(field))]),
  );
  const classes = new Set([...STANDARD, ...[...used.values()].flat().map((field) => field.class)]);
  const describeRole = (definition: RoleDefinition) => {
    const { name, resources, seesWithheld = false } = definition;
    const readable = published.filter((resource) => rules.roles.get(name)?.readsResource(resource));
    const rowsIn = (resource: string) => rowsOf(resources === 'all' ? '' : (resources[resource] ?? ''), day);
    return {
      name,
      // Whether the operator has defined the role, or redefined a built-in one.
      isOwn: !BUILT_IN_ACCESS.roles.some((builtIn) => isDeepStrictEqual(builtIn, definition)),
      classes: [...(definition.classes === 'all' ? classes : new Set(['open', ...definition.classes]))],
      seesWithheld,
      rows: Object.fromEntries(readable.map((resource) => [resource.name, rowsIn(resource.name)])),
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

/** The row filter as it is defined, and with the dates of the current day if it depends on the day. */
const rowsOf = (filter: string, day: string) => ({
  filter,
  today: dependsOnDay(filter) ? resolveDayTerms(filter, day) : undefined,
});

const classed = ({ name, key }: Resource, fields: readonly Field[]) => ({
  name,
  key,
  fields: Object.fromEntries(
    [...Map.groupBy(fields, (field) => field.class)].map(([kind, of]) => [kind, of.map((each) => each.name)]),
  ),
});
