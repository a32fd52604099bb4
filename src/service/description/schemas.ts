/** Schemas of records, as JSON Schema, from the dictionary. */
import type { Field } from '../../dictionary/index.ts';
import type { Json } from './parts.ts';

/** One value of a field; null where nobody knows it. */
function scalarSchema({ type }: Field): { readonly type: string } & Json {
  switch (type.kind) {
    case 'string':
      return { type: 'string', ...(type.maxLength === undefined ? {} : { maxLength: type.maxLength }) };
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

export function fieldSchema(field: Field): Json {
  const { type, ...rest } = scalarSchema(field);
  if (field.collection) return { type: ['array', 'null'], items: { type, ...rest } };
  return { type: [type, 'null'], ...rest };
}

/** @param fields undefined: which there are depends on who asks */
export function recordSchema(
  fields: readonly Field[] | undefined,
  key: string,
  nameOf: (field: Field) => string,
): Json {
  if (fields === undefined) return { type: 'object', additionalProperties: true };
  const properties = fields.map((field) => {
    const name = nameOf(field);
    return [name, name === key ? scalarSchema(field) : fieldSchema(field)];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}
