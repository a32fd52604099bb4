/**
 * Chooses the file in which a service caches blocks of pages: in the configured folder, next to an embedded store, or in plat's own
 * cache folder.
 */
import { hash } from 'node:crypto';
import { rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseStoreAddress, storeFileId, withoutPassword } from '../open-store.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../service/options.ts';
import { namesIn, platCacheFolder } from './cache-folder.ts';
import type { ConfigFile } from './config.ts';
import { version } from './version.ts';

const MEGABYTE = 1024 * 1024;
/**
 * The default size of the file in megabytes. It holds the compressed blocks of about 800,000 listings for one role and shape, or the
 * texts of 100,000. For a larger embedded store, the file may be as large as the store, so that the file has room for the texts of
 * as large a part of a larger market; but the keys of more than the most would take too much memory.
 */
const [FILE_MEGABYTES, MOST_FILE_MEGABYTES] = [1024, 4096];
/** The part of the free space of a disk that a file of more than `FILE_MEGABYTES` may take by default. */
const PART_OF_FREE = 1 / 4;

/**
 * @param text the address of the store
 * @param caches the folder for caches of all programs; not absolute: `.cache` in the user's home folder
 * @param now milliseconds since 1970
 */
export async function keptPages(
  text: string,
  config: ConfigFile,
  caches = process.env.XDG_CACHE_HOME ?? '',
  now = Date.now(),
): Promise<ServiceOptions['keptPages']> {
  const { megabytes, fileMegabytes, folder } = config.keptPages ?? {};
  const memory = { megabytes: megabytes ?? SERVICE_DEFAULTS.keptPages.megabytes };
  const path = fileMegabytes === 0 ? undefined : pathOf(text, folder, caches, now);
  if (path === undefined) return memory;
  const identity = JSON.stringify([version(), await storeFileId(text), config.lookups]);
  return { ...memory, file: { path, identity, megabytes: fileMegabytes ?? usualMegabytes(text, path) } };
}

/** The default size of a file. */
function usualMegabytes(text: string, path: string): number {
  const address = parseStoreAddress(text);
  const sizes = { store: 0, free: 0 };
  if (address.engine === 'sqlite') {
    try {
      const { bavail, bsize } = statfsSync(dirname(path));
      Object.assign(sizes, { store: statSync(address.path).size, free: bavail * bsize });
    } catch {
      // The folder or the store does not exist yet.
    }
  }
  return defaultMegabytes(sizes.store, sizes.free);
}

/** @param store the size of an embedded store in bytes @param free the free bytes of the disk that will have the file */
export const defaultMegabytes = (store: number, free: number): number =>
  Math.min(
    Math.max(FILE_MEGABYTES, Math.floor(Math.min(store, PART_OF_FREE * free) / MEGABYTE)),
    MOST_FILE_MEGABYTES,
  );

function pathOf(
  text: string,
  configured: string | undefined,
  caches: string,
  now: number,
): string | undefined {
  const address = parseStoreAddress(text);
  if (configured === undefined && address.engine === 'sqlite') return `${address.path}-pages`;
  const folder = configured ?? platCacheFolder(caches);
  if (folder !== undefined) removeUnused(folder, now);
  return folder && join(folder, `${hash('sha256', withoutPassword(text), 'hex').slice(0, 16)}-pages`);
}

/** The names of cache files, and of files that a killed process has left. */
const OWN_NAME = /^[0-9a-f]{16}-pages(?:-old|-journal|-text-[0-9a-f]{12})?$/;
/** Milliseconds after which a file is unused. A service writes its file on every day on which it compresses pages. */
const UNUSED = 30 * 24 * 60 * 60 * 1000;

/** Removes the files of stores that are no longer served. A process that still uses such a file recreates it. */
function removeUnused(folder: string, now: number): void {
  for (const name of namesIn(folder).filter((each) => OWN_NAME.test(each))) {
    const path = join(folder, name);
    try {
      if (statSync(path).mtimeMs < now - UNUSED) rmSync(path);
    } catch {
      // Another process is removing the file, or it cannot be removed. Continue with the other files.
    }
  }
}
