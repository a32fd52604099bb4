import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../store/files/private-file.ts';

/** plat's folder among the caches; undefined if it cannot be written, or if others can write to it. */
export function platCacheFolder(caches: string): string | undefined {
  try {
    const folder = join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'plat');
    // Without a home folder, the path would be relative to the working directory.
    if (!isAbsolute(folder)) return undefined;
    makeFolder(folder, PRIVATE_FOLDER_MODE);
    accessSync(folder, constants.W_OK);
    const { uid, mode } = statSync(folder);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return isOwn ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** The names in a folder; none if it does not exist yet. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
