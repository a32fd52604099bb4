import type { DatabaseSync } from 'node:sqlite';
import { type ResourceLayout, viewSelection } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { RowFaults } from '../../store/check/checks.ts';
import { viewFault } from '../../store/check/table-faults.ts';

/**
 * Makes the view that people query (docs/sql-views.md). Timestamps are UTC in the form of SQLite's own date functions;
 * multi-valued fields are JSON lists.
 */
export function recreateView(database: DatabaseSync, model: StoreModel, layout: ResourceLayout): void {
  database.exec(`DROP VIEW IF EXISTS "${layout.viewName}"`);
  database.exec(creation(model, layout));
}

const creation = (model: StoreModel, layout: ResourceLayout): string =>
  `CREATE VIEW "${layout.viewName}" AS ${viewSelection(model, layout)}`;

/** Whether the view is the one that is made. The engine keeps a definition in the words that made it. */
export function findViewFaults(
  database: DatabaseSync,
  model: StoreModel,
  layout: ResourceLayout,
): readonly RowFaults[] {
  const found = database
    .prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?")
    .get(layout.viewName);
  return found?.sql === creation(model, layout) ? [] : [viewFault(layout, found !== undefined)];
}
