import type { Field } from '../../dictionary/index.ts';
import type { StoreModel } from '../model.ts';
import type { ResourceLayout } from './index.ts';
import { ownColumn } from './own-column.ts';

/**
 * The columns of the view that people query (docs/sql-views.md), by name, with what each is in a row `r` of the columns
 * table: the fields in use, then those of agents and offices, joined.
 */
export function viewColumns(
  model: StoreModel,
  { resource, fields, joinedFields }: ResourceLayout,
): ReadonlyMap<string, string> {
  return new Map([
    ...fields.map((field) => [field.name, `r."${ownColumn(resource, field) ?? field.name}"`] as const),
    ...joinedFields.map((field) => [field.name, joinedColumn(model, field)] as const),
    ['_id', 'r._id'] as const,
  ]);
}

function joinedColumn(model: StoreModel, { joined }: Field): string {
  if (joined === undefined) return 'NULL';
  const table = model.layout(joined.resource).columnsTable;
  return `(SELECT j."${joined.field}" FROM "${table}" j WHERE j._key = r."${joined.link}")`;
}
