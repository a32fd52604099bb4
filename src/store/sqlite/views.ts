import type { DatabaseSync } from 'node:sqlite';
import type { ResourceLayout } from '../layout/index.ts';
import { viewColumns } from '../layout/view-columns.ts';
import type { StoreModel } from '../model.ts';

/**
 * Makes the view that people query (docs/sql-views.md). Timestamps are UTC in the form of SQLite's own date functions;
 * multi-valued fields are JSON lists.
 */
export function recreateView(database: DatabaseSync, model: StoreModel, layout: ResourceLayout): void {
  const { viewName, columnsTable } = layout;
  const columns = [...viewColumns(model, layout)].map(([name, value]) => `${value} AS "${name}"`);
  database.exec(`DROP VIEW IF EXISTS "${viewName}"`);
  database.exec(`CREATE VIEW "${viewName}" AS SELECT ${columns.join(', ')} FROM "${columnsTable}" r`);
}
