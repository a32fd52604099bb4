import type { Field, Resource } from '../../dictionary/index.ts';

/** Keys, a record's own and its parent's, and the parent's resource lie in columns that every table has. */
export type OwnColumn = '_key' | '_parent' | '_parent_resource';

/** The column of plat's own that holds a field; undefined for fields with a typed column of their name. */
export function ownColumn(resource: Resource, field: Field): OwnColumn | undefined {
  const { key, parent } = resource;
  if (field.name === key) return field.type.kind === 'string' ? '_key' : undefined;
  if (parent === undefined) return undefined;
  if (field.name === parent.keyField) return '_parent';
  return parent.kind === 'named' && field.name === parent.resourceField ? '_parent_resource' : undefined;
}
