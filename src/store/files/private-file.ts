/**
 * Files with records are readable only by their owner: stores, their copies, exports, rejected records. SQLite gives
 * `-wal` and `-shm` the mode of their file. A mode that an operator widened on purpose stays, and is reported.
 */

import { closeSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../shared/error-code.ts';

const PRIVATE_MODE = 0o600;
export const PRIVATE_FOLDER_MODE = 0o700;

/**
 * Creates a folder and its parents. The recursive option of Node.js never returns in a file system like /proc, which has no room
 * for folders.
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    makeOneFolder(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    makeFolder(parent, mode);
    makeOneFolder(path, mode);
  }
}

function makeOneFolder(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Creates an empty file with owner-only access, whatever the umask; leaves an existing file as it is. */
export function makePrivateFile(path: string): void {
  closeSync(openPrivateFile(path));
}

/** Opens a file for appending; creates a missing one with owner-only access, whatever the umask. */
export function openPrivateFile(path: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'ax', PRIVATE_MODE);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return openSync(path, 'a', PRIVATE_MODE);
    throw error;
  }
  // A umask may also remove the owner's permissions.
  if ((fstatSync(descriptor).mode & 0o777) !== PRIVATE_MODE) {
    try {
      fchmodSync(descriptor, PRIVATE_MODE);
    } catch {
      // On a file system without modes, the access of others is reported when the file is opened.
    }
  }
  return descriptor;
}

/** The mode of a file that others may read or write, as `chmod` accepts it; undefined if only the owner may. */
export function openMode(path: string): string | undefined {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  return (mode & 0o077) === 0 ? undefined : mode.toString(8).padStart(4, '0');
}
