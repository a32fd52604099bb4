/**
 * Names in addition to the dictionary's own: those of the native interface, the other names of navigations, and the expansion to
 * the custom fields of a record.
 */

import { memoizePerObject } from '../shared/memoize.ts';
import { NAVIGATION_BY_OTHER_NAME } from './listing-parts.ts';
import type { Field, Navigation, Resource } from './types.ts';

/**
 * The native interface names keys of agents and offices `…Id` where RESO says `…Key`
 * (specification 2.2: ListAgentId). All other names are the dictionary's.
 */
export function nativeName(resource: string, name: string): string {
  if (resource !== 'Property') return name;
  return name.replace(/(Agent|Office)Key$/, '$1Id');
}

/** Names that clients of the native interface use for fields of a listing, and the dictionary's names. */
export const NATIVE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['BathsFull', 'BathroomsFull'],
  ['BathsHalf', 'BathroomsHalf'],
  ['BathsThreeQuarter', 'BathroomsThreeQuarter'],
  ['BathsTotal', 'BathroomsTotalInteger'],
  ['BedsTotal', 'BedroomsTotal'],
  ['CoListAgentName', 'CoListAgentFullName'],
  ['ListAgentName', 'ListAgentFullName'],
  ['MlsId', 'OriginatingSystemID'],
]);

/** The first line of a listing's address, and its source field: the part before the first comma. */
export const FIRST_LINE = { name: 'UnparsedFirstLineAddress', of: 'UnparsedAddress' } as const;

/** The field that identifies the records of a resource. */
export function keyField({ name, key, fields }: Resource): Field {
  const field = fields.get(key);
  if (field === undefined) throw new Error(`${name} has no key`);
  return field;
}

/** Finds the navigation of a resource by its own name or, for a listing, by one of the other names. */
export function findNavigation(resource: Resource, name: string): Navigation | undefined {
  const own = resource.navigations.get(name);
  if (own !== undefined) return own;
  const other = NAVIGATION_BY_OTHER_NAME.get(name);
  return resource.name === 'Property' && other !== undefined ? resource.navigations.get(other) : undefined;
}

/** The expansion that returns only the custom fields of a record. */
export const CUSTOM_FIELDS = 'CustomFields';

/**
 * The navigation from a record to its custom fields. It leads to the record itself, and only its custom fields are returned. It is
 * a collection with one element, as clients of other services expect.
 */
export const customFieldsNavigation = memoizePerObject(
  ({ name, key }: Resource): Navigation => ({
    resource: name,
    name: CUSTOM_FIELDS,
    target: name,
    collection: true,
    local: key,
    remote: key,
  }),
);

/** Whether a navigation leads to custom fields. */
export const leadsToCustomFields = ({ name, resource, target, local, remote }: Navigation): boolean =>
  name === CUSTOM_FIELDS && target === resource && local === remote;
