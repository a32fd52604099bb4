import { ACCOUNTS, type Capabilities } from '../source/source.ts';

/** The resources whose records are in a collection of the source. */
export function resourcesIn(collection: string): readonly string[] {
  return collection === ACCOUNTS ? ['Member', 'Office'] : [collection];
}

/** The collection of the source in which a resource's records are. */
export function collectionOf({ resources }: Capabilities, resource: string): string {
  return resources.includes(resource) ? resource : ACCOUNTS;
}

/** Agents and offices have a schedule of their own (specification 4.4, rule 5). */
export function isAboutAccounts(collection: string): boolean {
  return collection === ACCOUNTS || collection === 'Member' || collection === 'Office';
}
