import { NAVIGATION_OF_NAME } from './listing-parts.ts';
import type { Navigation, Resource } from './types.ts';

/** The navigation of a resource by its own name or, for a listing, by one of the other names. */
export function findNavigation(resource: Resource, name: string): Navigation | undefined {
  const own = resource.navigations.get(name);
  if (own !== undefined) return own;
  const other = NAVIGATION_OF_NAME.get(name);
  return resource.name === 'Property' && other !== undefined ? resource.navigations.get(other) : undefined;
}

/** The expansion that gives the custom fields of a record by themselves. */
export const CUSTOM_FIELDS = 'CustomFields';

const custom = new WeakMap<Resource, Navigation>();

/**
 * The way from a record to its custom fields: to the record itself, of which nothing else is given. It is a list of one, as
 * the clients of other services read it.
 */
export function customFieldsOf(resource: Resource): Navigation {
  const known = custom.get(resource);
  if (known !== undefined) return known;
  const { name, key } = resource;
  const made = {
    resource: name,
    name: CUSTOM_FIELDS,
    target: name,
    collection: true,
    local: key,
    remote: key,
  };
  custom.set(resource, made);
  return made;
}

/** Whether a navigation is that one. */
export const leadsToCustomFields = ({ name, resource, target, local, remote }: Navigation): boolean =>
  name === CUSTOM_FIELDS && target === resource && local === remote;
