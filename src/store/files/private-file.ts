/**
 * Files that hold records are for their owner alone: stores, their copies, exports, records that were rejected. SQLite
 * gives `-wal` and `-shm` the mode of their file. What an operator opened to others on purpose stays so, and is reported.
 */
import { closeSync, fchmodSync, fstatSync, openSync, statSync } from 'node:fs';

export const PRIVATE_MODE = 0o600;
export const PRIVATE_FOLDER_MODE = 0o700;

/** Makes an empty file that only its owner may read, whatever the umask is; leaves one that is there as it is. */
export function makePrivateFile(path: string): void {
  closeSync(openPrivateFile(path));
}

/** Opens a file to append to it; one that was not there is made, for its owner alone, whatever the umask is. */
export function openPrivateFile(path: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'ax', PRIVATE_MODE);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      return openSync(path, 'a', PRIVATE_MODE);
    throw error;
  }
  // A umask takes away what it likes, also from the owner.
  if ((fstatSync(descriptor).mode & 0o777) !== PRIVATE_MODE) {
    try {
      fchmodSync(descriptor, PRIVATE_MODE);
    } catch {
      // A file system without modes: what others may do is reported when the file is opened.
    }
  }
  return descriptor;
}

/** The mode of a file that others may read or write, as `chmod` writes it; undefined when nobody else may. */
export function openMode(path: string): string | undefined {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  return (mode & 0o077) === 0 ? undefined : mode.toString(8).padStart(4, '0');
}
