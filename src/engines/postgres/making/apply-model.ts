import type { StoreModel } from '../../../compile/model.ts';
import { givenIn, writeMeta } from '../../../store/meta.ts';
import { storeTransaction } from '../../../store/rows/transaction.ts';
import type { CommitTimestamps } from '../../../store/write/commit-timestamps.ts';
import { publishDictionary } from '../../../store/write/publish-dictionary.ts';
import type { ServerSession } from '../connection/session.ts';
import { writeSessionOn } from '../writing/write-session.ts';
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
  await publishDictionary(storeTransaction(writeSessionOn(session), model, timestamps, null));
  await writeMeta(session, givenIn(timestamps));
}
