/** Schemas of records, as JSON Schema, from the dictionary. */
import type { Field } from '../../dictionary/index.ts';
import { type Json, listSchema, OBJECT_SCHEMA } from './openapi-elements.ts';

/** The schema of one value of a field; null means that it is not known. */
function scalarSchema({ type }: Field): { readonly type: string } & Json {
  switch (type.kind) {
    case 'string':
      return { type: 'string', maxLength: type.maxLength };
    case 'integer':
      return { type: 'integer' };
    case 'decimal':
      return { type: type.scale === 0 ? 'integer' : 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'timestamp':
      return { type: 'string', format: 'date-time' };
  }
}

/** The members of lookups that are enumerations, by the lookup's name. */
export type Members = ReadonlyMap<string, readonly { readonly name: string }[]>;
const NO_MEMBERS: Members = new Map();

/**
 * The schema of a field, as `$metadata` declares it: a list is never null, and a member of an enumeration has no maximum length.
 */
function fieldSchema(field: Field, members: Members): Json {
  const known = field.lookup === undefined ? [] : (members.get(field.lookup) ?? []);
  const names = [...new Set(known.map(({ name }) => name))];
  if (names.length > 0) {
    if (field.collection) return listSchema({ type: 'string', enum: names });
    return { type: ['string', 'null'], enum: [...names, null] };
  }
  const { type, ...rest } = scalarSchema(field);
  return field.collection ? listSchema({ type, ...rest }) : { type: [type, 'null'], ...rest };
}

/**
 * @param fields undefined if they depend on the key
 * @param members the members of the lookups that are enumerations; absent if all lookups are strings
 */
export function recordSchema(
  fields: readonly Field[] | undefined,
  key: string,
  nameOf: (field: Field) => string,
  members = NO_MEMBERS,
): Json {
  if (fields === undefined) return OBJECT_SCHEMA;
  const properties = fields.map((field) => {
    const name = nameOf(field);
    return [name, name === key ? scalarSchema(field) : fieldSchema(field, members)];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}
