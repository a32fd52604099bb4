/**
 * Tells a backup from the file that it was made of. SQLite takes any log (`-wal`) beside a file for that file's own, so a
 * backup that is put in the place of a store by hand would get what was stored since. A backup has an id of its own: what
 * the file says without its log, and what it says with it, then differ. It knows nothing of what else is in a store.
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

/** @throws PlatError `storeDenied` for a file beside which lies the log of another one; nothing is written to either */
export function mustOwnItsLog(path: string): void {
  if (isBlank(`${path}-wal`)) return;
  const beneath = idBeneath(path);
  if (beneath === undefined) return;
  using database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE });
  if (idOf(database) === beneath) return;
  const reason = `a backup was put in its place, and the log beside it is of the file that lay there. End whatever has it open, remove ${path}-wal and ${path}-shm, and run "plat restore --store ${path} --new-epoch"`;
  throw platError('storeDenied', { store: path, reason });
}
