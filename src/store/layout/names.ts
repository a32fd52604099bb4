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
export const columnsTable = (resource: string): string => `${snakeCase(resource)}_columns`;
export const textsTable = (resource: string): string => `${snakeCase(resource)}_texts`;
