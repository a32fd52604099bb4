import { decode } from '../../compile/column-value.ts';
import { ownColumn, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FieldValue, FieldValues } from '../../dictionary/index.ts';
import type { ContentKey } from '../../store/store.ts';
import { anyRows, type Connection, type Raw } from './connection.ts';

/** A statement that reads whole records from their columns, in key order. */
function contentStatement(layout: ResourceLayout, where: string): string {
  const place = layout.resource.parent === undefined ? '' : ', r._parent, r._parent_resource';
  const columns = typedFields(layout).map((field) => `, r."${field.name}"`);
  return `SELECT r._key${place}${columns.join('')} FROM "${layout.columnsTable}" r WHERE ${where} ORDER BY r._key`;
}

/** The content of a row; fields without a value are left out. */
export function contentOf(layout: ResourceLayout, row: Record<string, Raw>): FieldValues {
  const values: Record<string, FieldValue> = {};
  for (const field of layout.fields) {
    const column = ownColumn(layout.resource, field);
    const value = decode(field, row[column ?? field.name]);
    const isEmpty =
      value === null ||
      (column !== undefined && value === '') ||
      (Array.isArray(value) && value.length === 0);
    if (!isEmpty) values[field.name] = value;
  }
  return values;
}

/** Every record of a resource as a line of JSON, on one snapshot. */
export function* exportRecords(
  connection: Connection,
  model: StoreModel,
  resource: string,
): Iterable<string> {
  if (!model.stores(resource)) return;
  const layout = model.layout(resource);
  const statement = connection.database.prepare(contentStatement(layout, 'TRUE'));
  for (const row of statement.iterate()) yield JSON.stringify(contentOf(layout, row));
}

/** The records of a key, or the children of a record. */
export function readContents(
  connection: Connection,
  model: StoreModel,
  resource: string,
  of: ContentKey,
): FieldValues[] {
  if (!model.stores(resource)) return [];
  const layout = model.layout(resource);
  const [where, values] =
    'key' in of
      ? ['r._key = ?', [of.key]]
      : ['r._parent = ? AND r._parent_resource = ?', [of.parent, of.parentResource]];
  const rows = anyRows(connection, contentStatement(layout, where), values);
  return rows.map((row) => contentOf(layout, row));
}
