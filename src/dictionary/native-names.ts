/**
 * The native interface names keys of agents and offices `…Id` where RESO says `…Key`
 * (specification 2.2: ListAgentId). All other names are the dictionary's.
 */
export function nativeName(resource: string, name: string): string {
  if (resource !== 'Property') return name;
  return name.replace(/(Agent|Office)Key$/, '$1Id');
}

/** Names by which clients of the native interface ask for fields of a listing that the dictionary calls otherwise. */
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

/** The first line of a listing's address, and the field that it is taken from: what stands before the first comma. */
export const FIRST_LINE = { name: 'UnparsedFirstLineAddress', of: 'UnparsedAddress' } as const;
