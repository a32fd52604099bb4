import { bind, name, type Sql, sql } from '../../../compile/fragment.ts';
import { type ResourceLayout, viewColumns, viewSelection } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { RowFaults } from '../../../store/check/checks.ts';
import { viewFault } from '../../../store/check/table-faults.ts';
import type { Session } from '../../../store/session.ts';
import { type Catalog, readCatalog } from './catalog.ts';

/**
 * Makes the view that people query (docs/sql-views.md): a column for each field in use, agent and office fields joined. New
 * columns come at the end, so that what stands on a view stays.
 * @param isWrong whether it is made anew though it has these columns
 */
export async function recreateView(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
  catalog: Catalog,
  isWrong = false,
): Promise<void> {
  const before = columnsIn(catalog, layout);
  const columns = viewColumns(model, layout);
  const stays = before.isSubsetOf(columns);
  if (stays && before.size === columns.size && !isWrong) return;
  if (!stays) await session.run(sql`DROP VIEW ${name(layout.viewName)}`);
  await session.run(creation(model, layout, layout.viewName, stays ? before : new Set()));
}

/** Makes the view anew where it is not as it should be; inside a write transaction. */
export const mendView = async (session: Session, model: StoreModel, layout: ResourceLayout): Promise<void> =>
  recreateView(session, model, layout, await readCatalog(session), true);

/** The columns that a view has; none: there is no view. */
const columnsIn = ({ columns }: Catalog, { viewName }: ResourceLayout): Set<string> =>
  new Set(columns.get(viewName)?.keys());

/** @param first the columns that come first, in their order */
const creation = (
  model: StoreModel,
  layout: ResourceLayout,
  viewName: string,
  first: ReadonlySet<string>,
): Sql => ({
  parts: [`CREATE OR REPLACE VIEW "${viewName}" AS ${viewSelection(model, layout, first)}`],
});

/**
 * Whether the view is the one that is made. The server keeps a definition in words of its own, so it is queried for
 * those of another view that is made so, and that nobody ever sees.
 */
export async function findViewFaults(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
): Promise<readonly RowFaults[]> {
  const { viewName } = layout;
  const found = columnsIn(await readCatalog(session), layout);
  if (found.size === 0) return [viewFault(layout, false)];
  const columns = viewColumns(model, layout);
  if (found.size !== columns.size || !found.isSubsetOf(columns)) return [viewFault(layout, true)];
  const definition = async (view: string): Promise<unknown> => {
    const [row] = await session.rows(sql`SELECT pg_get_viewdef(CAST(${bind(view)} AS regclass)) AS text`);
    return row?.text;
  };
  const probe = `${viewName}_as_made`;
  await session.run(sql`BEGIN`);
  try {
    await session.run(creation(model, layout, probe, found));
    return (await definition(probe)) === (await definition(viewName)) ? [] : [viewFault(layout, true)];
  } finally {
    await session.run(sql`ROLLBACK`);
  }
}
