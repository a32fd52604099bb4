import type { StoreModel } from '../../compile/model.ts';
import { readModel as readStored } from '../../store/meta.ts';
import type { Session } from '../../store/session.ts';
import type { ServerSession } from './connection/session.ts';
import { mustKnow } from './migrations/layout-version.ts';

/** Where a reader has asked since the last promise (`plat_promise`): nobody stamps before this commit any more (I2). */
const KEEP_PROMISE = `INSERT INTO plat_meta
  SELECT 'settled', $1 FROM plat_meta asked
  WHERE asked.name = 'asked' AND asked.value::bigint > coalesce(
    (SELECT value::bigint FROM plat_meta WHERE name = 'settled'), 0)
  ON CONFLICT (name) DO UPDATE SET value = greatest(plat_meta.value::bigint, excluded.value::bigint)::text`;

/**
 * Makes the promise that a reader waits for, at the end of a transaction: where one writer follows another, no reader ever
 * finds the lock free.
 * @param lastStamp of the store, with the transaction's own. Canonical
 */
export async function keepPromise(session: ServerSession, lastStamp: string): Promise<void> {
  await session.run(KEEP_PROMISE, [String(Date.parse(lastStamp))]);
}

/** The model as it is stored. @throws LayoutTooNew */
export const readModel = (session: Pick<Session, 'rows'>): Promise<StoreModel> =>
  readStored(session, ({ layout, oldestReader }) => mustKnow(layout, oldestReader));
