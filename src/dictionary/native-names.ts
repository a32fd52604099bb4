/**
 * The native interface names keys of agents and offices `…Id` where RESO says `…Key`
 * (specification 2.2: ListAgentId). All other names are the dictionary's.
 */
export function nativeName(resource: string, name: string): string {
  if (resource !== 'Property') return name;
  return name.replace(/(Agent|Office)Key$/, '$1Id');
}
