import { bind, name, type Sql, sql } from '../../../compile/fragment.ts';
import { type ResourceLayout, viewColumns, viewSelection } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import type { ViewState } from '../../../store/check/table-faults.ts';
import type { Session } from '../../../store/session.ts';
import { type Catalog, readCatalog } from './catalog.ts';

/**
 * Creates the view for users (docs/sql-views.md): a column for each field in use, with agent and office fields joined. New columns
 * are added at the end, so that objects that depend on a view remain valid.
 *
 * @param isWrong whether to recreate it although it has these columns
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

/** Recreates the view if it differs from its definition; in a write transaction. */
export const mendView = async (session: Session, model: StoreModel, layout: ResourceLayout): Promise<void> =>
  recreateView(session, model, layout, await readCatalog(session), true);

/** The columns of a view; none if it does not exist. */
const columnsIn = ({ columns }: Catalog, { viewName }: ResourceLayout): Set<string> =>
  new Set(columns.get(viewName)?.keys());

/** @param first the columns that must come first, in this order */
const creation = (
  model: StoreModel,
  layout: ResourceLayout,
  viewName: string,
  first: ReadonlySet<string>,
): Sql => ({
  parts: [`CREATE OR REPLACE VIEW "${viewName}" AS ${viewSelection(model, layout, first)}`],
});

/**
 * Whether the view has the expected definition. The server stores a normalized definition, so it is compared with that of a
 * temporary view with the expected definition.
 */
export async function viewState(
  session: Session,
  model: StoreModel,
  layout: ResourceLayout,
): Promise<ViewState> {
  const { viewName } = layout;
  const found = columnsIn(await readCatalog(session), layout);
  if (found.size === 0) return 'absent';
  const columns = viewColumns(model, layout);
  if (found.size !== columns.size || !found.isSubsetOf(columns)) return 'different';
  const definition = async (view: string): Promise<unknown> => {
    const [row] = await session.rows(sql`SELECT pg_get_viewdef(CAST(${bind(view)} AS regclass)) AS text`);
    return row?.text;
  };
  const probe = `${viewName}_as_made`;
  await session.run(sql`BEGIN`);
  try {
    await session.run(creation(model, layout, probe, found));
    return (await definition(probe)) === (await definition(viewName)) ? 'intact' : 'different';
  } finally {
    await session.run(sql`ROLLBACK`);
  }
}
