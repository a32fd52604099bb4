import type { RecordQuery } from '../../compile/read.ts';
import type { FilterIndex } from '../filter-index/cache.ts';
import type { PageSource } from './page-wish.ts';
import { settle } from './settle.ts';
import { windowOf } from './window.ts';

/**
 * What a filter finds now, in key order: for a window once no record can enter it any more (I2).
 * @throws PlatError `windowNotSettled`, `queryTimedOut`
 */
export async function findIds(
  { store, clock, read }: PageSource,
  query: RecordQuery,
): Promise<Omit<FilterIndex, 'id'>> {
  const window = windowOf(query.filter);
  const openWindow = window !== undefined && (await settle(store, clock, window));
  return { ids: await store.ids({ ...query, order: [] }, read), openWindow };
}
