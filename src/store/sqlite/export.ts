import type { StoreModel } from '../model.ts';
import { decode } from './codec.ts';
import type { Connection } from './connection.ts';
import { typedFields } from './tables.ts';

/** Every record of a resource as a line of JSON, in key order, on one snapshot. */
export function* exportRecords(
  connection: Connection,
  model: StoreModel,
  resource: string,
): Iterable<string> {
  const layout = model.layout(resource);
  const fields = typedFields(layout);
  const columns = fields.map((field) => `, r."${field.name}"`).join('');
  const statement = connection.database.prepare(
    `SELECT r._key${columns} FROM "${layout.columnsTable}" r ORDER BY r._key`,
  );
  const textKey = !fields.some((field) => field.name === layout.resource.key);
  for (const row of statement.iterate()) {
    const record: Record<string, unknown> = textKey ? { [layout.resource.key]: row._key } : {};
    for (const field of fields) {
      const value = decode(field, row[field.name]);
      if (value !== null) record[field.name] = value;
    }
    yield JSON.stringify(record);
  }
}
