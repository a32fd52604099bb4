/**
 * The native interface names keys of agents and offices `…Id` where RESO says `…Key`
 * (specification 2.2: ListAgentId). All other names are the dictionary's.
 */
export function nativeName(resource: string, name: string): string {
  if (resource !== 'Property') return name;
  return name.replace(/(Agent|Office)Key$/, '$1Id');
}

/** Collections of a listing that the native interface has under another name than the navigation to their records. */
export const NATIVE_COLLECTIONS: readonly (readonly [native: string, navigation: string])[] = [
  ['Photos', 'Media'],
  ['Videos', 'Media'],
  ['VirtualTours', 'Media'],
  ['Documents', 'Media'],
  ['FloorPlans', 'Media'],
  ['Units', 'UnitTypes'],
];
