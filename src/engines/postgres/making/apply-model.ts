import type { StoreModel } from '../../../compile/model.ts';
import { givenIn, writeMeta } from '../../../store/meta.ts';
import type { CommitTimestamps } from '../../../store/write/commit-timestamps.ts';
import { publishDictionary } from '../../../store/write/publish-dictionary.ts';
import type { ServerSession } from '../connection/session.ts';
import { postgresTransaction } from '../writing/transaction.ts';
import { extendTables, readCatalog, storedLayouts } from './extend.ts';
import { recreateView } from './views.ts';

/** Inside a transaction: tables, views and the published dictionary as the model has them. */
export async function applyModel(
  session: ServerSession,
  model: StoreModel,
  timestamps: CommitTimestamps,
): Promise<void> {
  const layouts = storedLayouts(model);
  const catalog = await readCatalog(session);
  await extendTables(session, catalog, layouts);
  for (const layout of layouts) {
    await recreateView(session, model, layout, catalog.columns.get(layout.viewName) ?? []);
  }
  await publishDictionary(postgresTransaction(session, model, timestamps, null));
  await writeMeta(session, givenIn(timestamps));
}
