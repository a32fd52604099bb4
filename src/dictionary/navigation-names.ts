import type { Navigation, Resource } from './types.ts';

/** Singular and short names of a listing's collections: the specification's, and those of older artefacts. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['Room', 'Rooms'],
  ['Unit', 'UnitTypes'],
  ['OpenHouse', 'OpenHouses'],
  ['GreenBuildingVerification', 'GreenBuildingVerifications'],
]);

/** The navigation of a resource by its own name or, for a listing, by one of the other names. */
export function findNavigation(resource: Resource, name: string): Navigation | undefined {
  const own = resource.navigations.get(name);
  if (own !== undefined) return own;
  const other = OTHER_NAMES.get(name);
  return resource.name === 'Property' && other !== undefined ? resource.navigations.get(other) : undefined;
}
