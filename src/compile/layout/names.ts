import { navigationTo } from '../../dictionary/index.ts';

/** `PropertyRooms` → `property_rooms`, `OUID` → `ouid`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/** A published view bears the name of the collection of a listing, or of its resource, in snake case. */
export const viewName = (resource: string): string => snakeCase(navigationTo(resource) ?? resource);
export const columnsTable = (resource: string): string => `${snakeCase(resource)}_records`;

/**
 * Listings are wide and many: their texts lie in a table of their own, so that a search does not read them. The
 * texts of all other records lie beside their columns.
 */
export const textsTable = (resource: string): string =>
  resource === 'Property' ? 'property_texts' : columnsTable(resource);
