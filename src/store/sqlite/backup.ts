/** A backup is a file that nobody sees before it is whole, and that is gone when it does not become whole. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { platError } from '../../errors/index.ts';
import type { StoreDump } from '../dump.ts';
import { makePrivateFile } from '../private-file.ts';
import { translateError } from './errors.ts';
import { restoreStore } from './restore.ts';

/**
 * @param write fills the file, which is there and empty
 * @throws PlatError `usage` when there is such a file
 */
export async function makeBackup(file: string, write: (path: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw platError('usage', { reason: `${file} exists already.` });
  const partial = `${file}.partial`;
  const remove = (): void => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${end}`, { force: true });
  };
  remove(); // what a killed backup left
  try {
    makePrivateFile(partial);
    await write(partial);
    renameSync(partial, file);
  } catch (error) {
    remove();
    throw translateError(error, file, 0);
  }
}

/** Writes a backup of a store of another engine. */
export const writeBackup = (file: string, dump: StoreDump): Promise<void> =>
  makeBackup(file, (path) => restoreStore(path, dump));
