import type { Field } from '../dictionary/index.ts';
import type { Context } from './context.ts';
import { placeOf, valueAt } from './fields.ts';
import type { FileAddress } from './file-address.ts';
import { column, type Sql, sql } from './fragment.ts';

/** A field of the record in scope 0 as JSON text, from its column. */
export function jsonOf(
  context: Context,
  field: Field,
  place: { readonly files: FileAddress; readonly alias: string },
): Sql {
  const found = valueAt(placeOf(context, 0, [], field));
  const text = context.dialect.json(field.collection ? 'collection' : field.type.kind, found);
  if (field.resource !== 'Media' || field.name !== 'MediaURL') return text;
  const file = column(place.alias, '_file');
  const address = context.dialect.json('string', place.files(file));
  return sql`CASE WHEN ${file} IS NULL THEN ${text} ELSE ${address} END`;
}
