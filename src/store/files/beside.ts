/**
 * The files next to a store's file. SQLite uses any file with the store's name and `-wal`, `-shm` or `-journal` as its
 * log, even one left by a deleted store: it would be written into the new file, or be shared with a process that still
 * has the deleted file open. So no such file may exist when a file gets its name.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { processWithoutFile } from './lock-holders.ts';
import { DATABASE_FILE_ENDINGS } from './partial-file.ts';

/** Whether there is no file, or an empty one. */
export const isEmptyFile = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

/** @throws PlatError `storeDenied` if a process is known to write the log of another file of this name */
export function mustNotBeInUse(path: string): void {
  const holder = processWithoutFile(path);
  if (holder === undefined) return;
  const what = existsSync(path) ? 'another file was put in its place' : 'its file was deleted';
  const reason = `${what} while process ${holder} has it open. End that process first`;
  throw platError('storeDenied', { store: path, reason });
}

/**
 * Renames the files next to a file, so that the next file of that name does not use them.
 * @param name kept files get this name and their ending
 * @returns the names of kept files: a log may contain the last writes; the others are worthless without their file
 */
export function setAsideLogFiles(path: string, name: string): readonly string[] {
  const kept: string[] = [];
  for (const end of DATABASE_FILE_ENDINGS) {
    const [from, to] = [`${path}${end}`, `${name}${end}`];
    if (end === '-shm' || isEmptyFile(from)) rmSync(from, { force: true });
    else {
      renameSync(from, to);
      kept.push(to);
    }
  }
  return kept;
}

/** An unused name for a file that had this one. */
export function unusedName(path: string, now: number): string {
  const name = `${path}.replaced-${timestampFrom(now).replace(/[-:]|\.\d+/g, '')}`;
  const isFree = (each: string): boolean =>
    ['', ...DATABASE_FILE_ENDINGS].every((end) => !existsSync(`${each}${end}`));
  for (let count = 1; ; count++) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (isFree(each)) return each;
  }
}

/** @throws PlatError `usage` if a file of this name would use the files next to it as its own */
export function mustHaveNoLogFiles(path: string): void {
  const found = DATABASE_FILE_ENDINGS.map((end) => `${path}${end}`).find((each) => existsSync(each));
  if (found === undefined) return;
  const reason = `${found} already exists and would be treated as part of ${path}. Move it away.`;
  throw platError('usage', { reason });
}
