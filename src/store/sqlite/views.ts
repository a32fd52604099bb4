import type { DatabaseSync } from 'node:sqlite';
import type { Field } from '../../dictionary/index.ts';
import { type ResourceLayout, typedFields } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';

/**
 * The views that people query (docs/sql-views.md): a column for each field in use, agent and office fields joined.
 * Timestamps are UTC in the form of SQLite's own date functions; multi-valued fields are JSON lists.
 */
export function recreateView(database: DatabaseSync, model: StoreModel, layout: ResourceLayout): void {
  const { resource, viewName, columnsTable, joinedFields } = layout;
  const key = typedFields(layout).some((field) => field.name === resource.key)
    ? []
    : [`r._key AS "${resource.key}"`];
  const own = typedFields(layout).map((field) => `r."${field.name}"`);
  const joined = joinedFields.map((field) => joinedColumn(model, field));
  const hidden = ['_id'].map((column) => `r.${column} AS "${column}"`);
  database.exec(`DROP VIEW IF EXISTS "${viewName}"`);
  database.exec(
    `CREATE VIEW "${viewName}" AS SELECT ${[...key, ...own, ...joined, ...hidden].join(', ')} FROM "${columnsTable}" r`,
  );
}

function joinedColumn(model: StoreModel, { name, joined }: Field): string {
  if (joined === undefined) return `NULL AS "${name}"`;
  const table = model.layout(joined.resource).columnsTable;
  return `(SELECT j."${joined.field}" FROM "${table}" j WHERE j._key = r."${joined.link}") AS "${name}"`;
}
