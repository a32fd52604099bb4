/** Chooses the file in which a service caches blocks of pages: next to an embedded store, otherwise in the configured folder. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { storeAddress, storeFileId, withoutPassword } from '../open-store.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../service/options.ts';
import type { ConfigFile } from './config.ts';
import { version } from './version.ts';

/**
 * The default size of the file in megabytes. It holds the blocks of about 800,000 listings for one role and shape, or 100,000 for
 * eight, and is small compared with a store of that many records, which takes ten times as much.
 */
const FILE_MEGABYTES = 1024;

/** @param text the address of the store */
export async function keptPages(text: string, config: ConfigFile): Promise<ServiceOptions['keptPages']> {
  const { megabytes, fileMegabytes = FILE_MEGABYTES, folder } = config.keptPages ?? {};
  const memory = { megabytes: megabytes ?? SERVICE_DEFAULTS.keptPages.megabytes };
  const path = pathOf(text, folder);
  if (path === undefined || fileMegabytes === 0) return memory;
  const identity = JSON.stringify([version(), await storeFileId(text), config.lookups]);
  return { ...memory, file: { path, identity, megabytes: fileMegabytes } };
}

function pathOf(text: string, folder: string | undefined): string | undefined {
  const address = storeAddress(text);
  if (folder === undefined) return address.engine === 'sqlite' ? `${address.path}-pages` : undefined;
  return join(folder, `${hash('sha256', withoutPassword(text), 'hex').slice(0, 16)}-pages`);
}
