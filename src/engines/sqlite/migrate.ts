import { readModel } from '../../store/meta.ts';
import { connect } from './connection.ts';
import { LAYOUT_VERSION, layoutOf, markStore } from './create.ts';
import { LOCK_TIMEOUT, underLock } from './lock.ts';
import { sessionOn } from './session.ts';
import { applyTables, OWN } from './tables.ts';

/**
 * Brings the file of an older layout to this one, once, under the write lock: tables and indexes that came since are
 * made, empty (plat_changes) or, the index of words, with the words of all that is stored. An error leaves the file as it was.
 */
export async function migrateStore(path: string): Promise<void> {
  const connection = connect({ path, readOnly: false, busyTimeout: LOCK_TIMEOUT, cacheMegabytes: 64 });
  const { database } = connection;
  try {
    await underLock(connection, async () => {
      // Another process was faster.
      if (layoutOf(database) === LAYOUT_VERSION) return;
      database.exec(OWN);
      const model = await readModel(sessionOn(connection));
      applyTables(database, model);
      markStore(database);
    });
  } finally {
    connection.close();
  }
}
