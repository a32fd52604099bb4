/**
 * Distinguishes a backup from its original. SQLite assumes that any log (`-wal`) next to a file belongs to it, so a backup that
 * replaces a store by hand would receive later changes of the original. A backup has its own id, so in that case the id read with
 * the log differs from the one read without it. This module knows nothing else about a store.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { platError } from '../../errors/index.ts';
import { isEmptyFile } from '../../store/files/beside.ts';
import { READ_PATIENCE } from './connection.ts';

const READ = "SELECT value FROM plat_meta WHERE name = 'file'";
const idOf = (database: DatabaseSync): string => String(database.prepare(READ).get()?.value ?? '');

/** The id in the file without its log; undefined if it cannot be read because it is being written. */
export function idWithoutLog(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(address, { readOnly: true });
    return idOf(database);
  } catch {
    return undefined;
  }
}

/** @throws PlatError `storeDenied` if the log next to the file belongs to another file; nothing is then written to either */
export function mustOwnItsLog(path: string): void {
  if (isEmptyFile(`${path}-wal`)) return;
  const beneath = idWithoutLog(path);
  if (beneath === undefined) return;
  using database = new DatabaseSync(path, { readOnly: true, timeout: READ_PATIENCE });
  if (idOf(database) === beneath) return;
  const reason = `a backup was put in its place, but the log next to it belongs to the previous file. End all processes that have it open, remove ${path}-wal and ${path}-shm, and run "plat restore --store ${path} --new-epoch"`;
  throw platError('storeDenied', { store: path, reason });
}
