/** `PropertyRooms` → `property_rooms`, `OUID` → `ouid`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/** The names of the published views; all other resources have their own name in snake case. */
const VIEWS: Readonly<Record<string, string>> = {
  PropertyRooms: 'rooms',
  PropertyUnitTypes: 'unit_types',
  OpenHouse: 'open_houses',
};

export const viewName = (resource: string): string => VIEWS[resource] ?? snakeCase(resource);
export const columnsTable = (resource: string): string => `${snakeCase(resource)}_records`;

/**
 * Listings are wide and many: their texts lie in a table of their own, so that a search does not read them. The
 * texts of all other records lie beside their columns.
 */
export const textsTable = (resource: string): string =>
  resource === 'Property' ? 'property_texts' : columnsTable(resource);
