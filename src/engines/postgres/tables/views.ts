import { bind, name, type Sql, sql } from '../../../compile/fragment.ts';
import { type ResourceLayout, viewColumns, viewTables } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { RowFaults } from '../../../store/check/checks.ts';
import { viewFault } from '../../../store/check/table-faults.ts';
import type { Session } from '../../../store/session.ts';

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
  if (isAmongColumns(model, layout, before) && before.length === viewColumns(model, layout).size) return;
  await makeView(session, model, layout, before);
}

/** Whether a view with these columns can be extended: none of them goes. */
function isAmongColumns(model: StoreModel, layout: ResourceLayout, names: readonly string[]): boolean {
  const columns = viewColumns(model, layout);
  return names.every((name) => columns.has(name));
}

/** Makes it whatever is there. */
async function makeView(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
  before: readonly string[],
): Promise<void> {
  const stays = isAmongColumns(model, layout, before);
  if (!stays) await session.run(sql`DROP VIEW ${name(layout.viewName)}`);
  await session.run(creation(model, layout, layout.viewName, stays ? before : []));
}

/** @param first the columns that come first, in their order */
function creation(
  model: StoreModel,
  layout: ResourceLayout,
  viewName: string,
  first: readonly string[],
): Sql {
  const columns = viewColumns(model, layout);
  const names = [...first, ...[...columns.keys()].filter((name) => !first.includes(name))];
  const list = names.map((name) => `${columns.get(name)} AS "${name}"`).join(', ');
  return {
    parts: [`CREATE OR REPLACE VIEW "${viewName}" AS SELECT ${list} FROM ${viewTables(layout)}`],
  };
}

interface Found {
  readonly text: string;
  readonly columns: readonly string[];
}

async function findView(session: Session, viewName: string): Promise<Found | undefined> {
  const [row] = await session.rows(
    sql`SELECT pg_get_viewdef(c.oid) AS text, array_to_string(ARRAY(
       SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
     ), ' ') AS columns
     FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v' AND c.relname = ${bind(viewName)}`,
  );
  return row === undefined ? undefined : { text: String(row.text), columns: String(row.columns).split(' ') };
}

/**
 * Whether the view is the one that is made. The server keeps a definition in words of its own, so it is asked for those
 * of another view that is made so, and that nobody ever sees.
 */
export async function findViewFaults(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
): Promise<readonly RowFaults[]> {
  const found = await findView(session, layout.viewName);
  if (found === undefined) return [viewFault(layout, false)];
  const columns = viewColumns(model, layout);
  const isOther = found.columns.length !== columns.size || !found.columns.every((name) => columns.has(name));
  if (isOther) return [viewFault(layout, true)];
  const probe = `${layout.viewName}_as_made`;
  await session.run(sql`BEGIN`);
  try {
    await session.run(creation(model, layout, probe, found.columns));
    const made = await findView(session, probe);
    return made?.text === found.text ? [] : [viewFault(layout, true)];
  } finally {
    await session.run(sql`ROLLBACK`);
  }
}

/** Makes the view anew where it is not as it should be; inside a write transaction. */
export async function mendView(session: Session, model: StoreModel, layout: ResourceLayout): Promise<void> {
  const found = await findView(session, layout.viewName);
  await makeView(session, model, layout, found?.columns ?? []);
}
