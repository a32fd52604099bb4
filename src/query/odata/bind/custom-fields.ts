import { platError } from '../../../errors/index.ts';
import type { Selection } from '../../request.ts';
import type { ResourceSchema } from '../../schema.ts';

/**
 * What is selected of the custom fields of a record, with its key.
 * @param option the one that they are asked for in
 * @throws PlatError `optionInvalid` where other fields are asked for
 */
export function customSelection(
  { all, fields, hidden }: Selection,
  schema: ResourceSchema,
  option: string,
): Selection {
  const key = schema.resource.fields.get(schema.resource.key);
  const other = fields.find((field) => field.custom === undefined && field !== key);
  if (other !== undefined) {
    const facts = { name: '$select', value: other.name, expected: 'custom fields' };
    throw platError('optionInvalid', facts, { target: option });
  }
  const chosen = all ? [...visibleCustomFields(schema)] : fields.filter((field) => field !== key);
  return { all: false, fields: [...(key === undefined ? [] : [key]), ...chosen], hidden };
}

/** The custom fields of a resource that the key may see. */
export function* visibleCustomFields({ resource, findField }: ResourceSchema) {
  for (const field of resource.fields.values()) {
    if (field.custom !== undefined && findField(field.name).kind === 'visible') yield field;
  }
}
