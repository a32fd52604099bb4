import type { Resource } from '../../dictionary/index.ts';

/** Whether a field of the source is none of the standard dictionary's: new here, or declared by a run before. */
export function isForeign({ fields, fieldAliases }: Resource, name: string): boolean {
  const field = fields.get(name);
  return field === undefined ? !fieldAliases.has(name) : field.custom !== undefined;
}
