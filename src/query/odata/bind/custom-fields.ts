import type { Selection } from '../../request.ts';
import type { ResourceSchema } from '../../schema.ts';

/** What is selected of the custom fields of a record, with its key; undefined where other fields are asked for. */
export function customSelection(
  { all, fields, hidden }: Selection,
  schema: ResourceSchema,
): Selection | undefined {
  const key = schema.resource.fields.get(schema.resource.key);
  if (fields.some((field) => field.custom === undefined && field !== key)) return undefined;
  const chosen = all ? [...visibleCustomFields(schema)] : fields.filter((field) => field !== key);
  return { all: false, fields: [...(key === undefined ? [] : [key]), ...chosen], hidden };
}

/** The custom fields of a resource that the key may see. */
export function* visibleCustomFields({ resource, findField }: ResourceSchema) {
  for (const field of resource.fields.values()) {
    if (field.custom !== undefined && findField(field.name).kind === 'visible') yield field;
  }
}
