import type { Pool } from 'pg';
import { decode } from '../../../compile/column-value.ts';
import { ownColumn, type ResourceLayout, typedFields } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { FieldValue, FieldValues } from '../../../dictionary/index.ts';
import type { Row } from '../../../store/session.ts';
import type { ContentKey } from '../../../store/store.ts';
import { borrow, type ServerSession } from '../connection/session.ts';

/** A statement that reads whole records from their columns, in key order. */
function contentStatement(layout: ResourceLayout, where: string): string {
  const place = layout.resource.parent === undefined ? '' : ', r._parent, r._parent_resource';
  const columns = typedFields(layout).map((field) => `, r."${field.name}"`);
  return `SELECT r._key${place}${columns.join('')} FROM "${layout.columnsTable}" r WHERE ${where} ORDER BY r._key`;
}

/** The content of a row; fields without a value are left out. */
function contentOf(layout: ResourceLayout, row: Row): FieldValues {
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

/** Rows that come at once. */
const ROWS = 500;

/** All rows of a statement on one snapshot, a few at a time, on a connection of its own. */
export async function* readAll(pool: Pool, text: string): AsyncIterable<Row> {
  using loan = await borrow(pool, { ending: ({ run }) => run('ROLLBACK') });
  const fetch = (): Promise<readonly Row[]> => loan.run((session) => session.rows(`FETCH ${ROWS} FROM rows`));
  await loan.run(({ run }) => run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'));
  await loan.run(({ run }) => run(`DECLARE rows NO SCROLL CURSOR FOR ${text}`));
  for (let rows = await fetch(); rows.length > 0; rows = await fetch()) yield* rows;
}

/** Every record of a resource as a line of JSON, on one snapshot. */
export async function* exportRecords(pool: Pool, model: StoreModel, resource: string): AsyncIterable<string> {
  if (!model.stores(resource)) return;
  const layout = model.layout(resource);
  for await (const row of readAll(pool, contentStatement(layout, 'TRUE'))) {
    yield JSON.stringify(contentOf(layout, row));
  }
}

/** The records of a key, or the children of a record. */
export async function readContents(
  session: ServerSession,
  model: StoreModel,
  resource: string,
  of: ContentKey,
): Promise<FieldValues[]> {
  if (!model.stores(resource)) return [];
  const layout = model.layout(resource);
  const [where, values] =
    'key' in of
      ? ['r._key = $1', [of.key]]
      : ['r._parent = $1 AND r._parent_resource = $2', [of.parent, of.parentResource]];
  const rows = await session.rows(contentStatement(layout, where), values);
  return rows.map((row) => contentOf(layout, row));
}
