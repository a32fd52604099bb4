/** The operations of the SQLite engine for a restore (store/files/restore.ts). */
import { copyFileSync, existsSync } from 'node:fs';
import { backup as backupDatabase, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { failedError } from '../../errors/index.ts';
import { makePrivateFile } from '../../store/files/private-file.ts';
import { type FileEngine, type LockedStore, readReplacedStore } from '../../store/files/restore.ts';
import { connect } from './connection.ts';
import { inspectStore, takeTurn } from './create.ts';
import { damageIn, isBusy, translateError } from './errors.ts';
import { sessionOn } from './session.ts';
import { openSqliteStore } from './store.ts';

export const sqliteFiles: FileEngine = {
  lockStore: lockStoreFile,
  copy: copyBackup,
  open: (path, clock) => openSqliteStore({ path, clock }),
  lockName: takeTurn,
};

/** Locks the store's file for this process. A damaged or missing file cannot be locked. */
async function lockStoreFile(path: string): Promise<LockedStore> {
  using taken = new DisposableStack();
  const lockedStore = (before: LockedStore['before'], ...remarks: string[]): LockedStore => {
    const held = taken.move();
    return { before, remarks, release: () => held.dispose() };
  };
  if (!existsSync(path)) return lockedStore(undefined);
  try {
    // Refuses a file that is not a store: nothing else is overwritten.
    inspectStore(path, true);
    const connection = taken.use(connect({ path, readOnly: false, busyTimeout: 0, cacheMegabytes: 1 }));
    // Every process that has a store open holds a shared lock on its file, even while it is idle.
    connection.database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return lockedStore(await readReplacedStore(sessionOn(connection)));
  } catch (error) {
    const reason = `${path} is open in another process: a service, an import or a replication. End it, then restore.`;
    if (isBusy(error)) throw failedError(reason);
    if (damageIn(error) === undefined) throw translateError(error, path, 0);
  }
  const remark = 'the previous store cannot be read, so it is not known whether a process had it open';
  return lockedStore(undefined, remark);
}

/** Copies a backup, including the log of a file that was copied by hand. */
async function copyBackup(backup: string, partial: string): Promise<void> {
  try {
    const [log, index, journal] = ['-wal', '-shm', '-journal'].map((end) => existsSync(`${backup}${end}`));
    if (log === true && index !== true && journal !== true) {
      // No process has the backup open, and SQLite would write an index of the log next to it.
      copyFileSync(backup, partial);
      makePrivateFile(`${partial}-wal`); // a copy would have the mode of its original
      copyFileSync(`${backup}-wal`, `${partial}-wal`);
    } else {
      await copyThrough(backup, partial, log !== true && journal !== true);
    }
    inspectStore(partial);
  } catch (error) {
    throw translateError(error, partial, 0);
  }
}

/** @param isWhole whether the file is complete without a log: nothing is then written next to it, and its disk may be read-only */
async function copyThrough(backup: string, partial: string, isWhole: boolean): Promise<void> {
  const address = pathToFileURL(backup);
  if (isWhole) address.searchParams.set('immutable', '1');
  using source = new DatabaseSync(address, { readOnly: true });
  await backupDatabase(source, partial);
}
