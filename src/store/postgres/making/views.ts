import type { ResourceLayout } from '../../layout/index.ts';
import { viewColumns } from '../../layout/view-columns.ts';
import type { StoreModel } from '../../model.ts';
import type { Session } from '../connection/session.ts';

/**
 * The views that people query (docs/sql-views.md): a column for each field in use, agent and office fields joined.
 * New columns come at the end, so that what stands on a view stays.
 * @param before the columns that the view has; none: there is no view
 */
export async function recreateView(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
  before: readonly string[],
): Promise<void> {
  const { viewName, columnsTable } = layout;
  const columns = viewColumns(model, layout);
  const stays = before.every((name) => columns.has(name));
  if (stays && before.length === columns.size) return;
  if (!stays) await session.run(`DROP VIEW "${viewName}"`);
  const kept = stays ? before : [];
  const names = [...kept, ...[...columns.keys()].filter((name) => !kept.includes(name))];
  const list = names.map((name) => `${columns.get(name)} AS "${name}"`).join(', ');
  await session.run(`CREATE OR REPLACE VIEW "${viewName}" AS SELECT ${list} FROM "${columnsTable}" r`);
}
