import type { Field } from '../../dictionary/index.ts';
import { type ResourceLayout, typedFields } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import type { Session } from './session.ts';

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

/** By name, where its value is found. */
function viewColumns(model: StoreModel, layout: ResourceLayout): Map<string, string> {
  const { resource, joinedFields } = layout;
  const typed = typedFields(layout);
  return new Map([
    ...(typed.some((field) => field.name === resource.key) ? [] : [[resource.key, 'r._key'] as const]),
    ...typed.map((field) => [field.name, `r."${field.name}"`] as const),
    ...joinedFields.map((field) => [field.name, joinedColumn(model, field)] as const),
    ['_id', 'r._id'] as const,
  ]);
}

function joinedColumn(model: StoreModel, { joined }: Field): string {
  if (joined === undefined) return 'NULL';
  const table = model.layout(joined.resource).columnsTable;
  return `(SELECT j."${joined.field}" FROM "${table}" j WHERE j._key = r."${joined.link}")`;
}
