/** Complete records as their columns contain them, regardless of roles: for exports, comparisons, repairs. */
import { decode } from '../compile/column-value.ts';
import { bind, join, name, type Sql, sql } from '../compile/fragment.ts';
import { ownColumn, type ResourceLayout, typedFields } from '../compile/layout/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { FieldValue, FieldValues } from '../dictionary/index.ts';
import type { Row, Session } from './session.ts';
import type { ContentKey } from './store.ts';

/** A statement that reads whole records in key order. */
export function selectContents(layout: ResourceLayout, where: Sql = sql`TRUE`): Sql {
  const place = layout.resource.parent === undefined ? [] : [sql`r._parent`, sql`r._parent_resource`];
  const columns = typedFields(layout).map((field) => sql`r.${name(field.name)}`);
  return sql`SELECT ${join([sql`r._key`, ...place, ...columns], ', ')} FROM ${name(layout.columnsTable)} r
    WHERE ${where} ORDER BY r._key`;
}

/** The content of a row; fields without a value are omitted. */
export function readContent(layout: ResourceLayout, row: Row): FieldValues {
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

/** The record with a key, or the children of a record. */
export async function readContents(
  { rows }: Pick<Session, 'rows'>,
  model: StoreModel,
  resource: string,
  of: ContentKey,
): Promise<FieldValues[]> {
  if (!model.stores(resource)) return [];
  const layout = model.layout(resource);
  const where =
    'key' in of
      ? sql`r._key = ${bind(of.key)}`
      : sql`r._parent = ${bind(of.parent)} AND r._parent_resource = ${bind(of.parentResource)}`;
  return (await rows(selectContents(layout, where))).map((row) => readContent(layout, row));
}
