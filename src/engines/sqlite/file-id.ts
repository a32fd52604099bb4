/**
 * Distinguishes a backup from the file that it was made of. SQLite assumes that any log (`-wal`) next to a file belongs
 * to it, so a backup that replaces a store by hand would receive what was stored since. A backup has an id of its own,
 * so the ids read with and without the log then differ. This module knows nothing else about a store.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { platError } from '../../errors/index.ts';
import { newEpoch } from '../../store/epoch.ts';
import { isBlank } from '../../store/files/beside.ts';

const READ = "SELECT value FROM plat_meta WHERE name = 'file'";
const WRITE =
  "INSERT INTO plat_meta VALUES ('file', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** Milliseconds that a lock is waited for. */
const PATIENCE = 5000;

/** Makes a backup another file than the one that it was made of. */
export function giveFileId(path: string): void {
  using database = new DatabaseSync(path, { timeout: PATIENCE });
  database.prepare(WRITE).run(newEpoch());
}

const idOf = (database: DatabaseSync): string => String(database.prepare(READ).get()?.value ?? '');

/** What the file says without its log; undefined while that cannot be read, since it is just being written. */
export function idBeneath(path: string): string | undefined {
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

/**
 * @throws PlatError `storeDenied` for a file next to which there is the log of another file; nothing is written to
 * either
 */
export function mustOwnItsLog(path: string): void {
  if (isBlank(`${path}-wal`)) return;
  const beneath = idBeneath(path);
  if (beneath === undefined) return;
  using database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE });
  if (idOf(database) === beneath) return;
  const reason = `a backup was put in its place, but the log next to it belongs to the previous file. End all processes that have it open, remove ${path}-wal and ${path}-shm, and run "plat restore --store ${path} --new-epoch"`;
  throw platError('storeDenied', { store: path, reason });
}
