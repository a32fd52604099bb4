import type { DatabaseSync } from 'node:sqlite';
import { LAYOUT_VERSION } from '../../store/layout-version.ts';
import { readModel } from '../../store/meta.ts';
import { logStored } from '../../store/rows/change-log.ts';
import { connect } from './connection.ts';
import { layoutOf, markStore } from './create.ts';
import { sessionOn } from './session.ts';
import { applyTables, columnsOf, OWN } from './tables.ts';
import { LOCK_TIMEOUT, underLock } from './transaction.ts';

/**
 * Brings the file of an older layout to this one, once, under the write lock: tables and indexes that came since are
 * made, empty (plat_changes) or, the index of words, with the words of all that is stored. An error leaves the file as it was.
 */
export async function migrateStore(path: string): Promise<void> {
  using connection = connect({ path, readOnly: false, busyTimeout: LOCK_TIMEOUT, cacheMegabytes: 64 });
  const { database } = connection;
  await underLock(connection, async () => {
    // Another process was faster.
    if (layoutOf(database) === LAYOUT_VERSION) return;
    extendChanges(database);
    database.exec(OWN);
    const session = sessionOn(connection);
    const model = await readModel(session);
    applyTables(database, model);
    await logStored(session, model);
    markStore(database);
  });
}

/** Entries from before layout 4 do not say what happened, and who sees the record: the sequence begins again behind them. */
function extendChanges(database: DatabaseSync): void {
  const there = columnsOf(database, 'plat_changes');
  if (there.size === 0 || there.has('kind')) return;
  database.exec(`ALTER TABLE plat_changes RENAME TO plat_changes_before; ${OWN};
    INSERT INTO plat_changes (seq, resource, key, kind, at, was, visible)
      SELECT seq, resource, key, iif(resource = '.', 'commit', 'all'), 0, 0, 0 FROM plat_changes_before;
    DROP TABLE plat_changes_before;
    INSERT OR IGNORE INTO plat_meta (name, value) SELECT 'changes_horizon', coalesce(max(seq), 0) FROM plat_changes`);
}
