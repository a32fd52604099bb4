/** Where a service keeps blocks of pages beside memory: beside an embedded store, else in the folder of the configuration. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { storeAddress, storeFileId, withoutPassword } from '../open-store.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../service/options.ts';
import type { ConfigFile } from './config.ts';
import { version } from './version.ts';

/**
 * Megabytes of the file by default: what about 800,000 listings take for one role and shape, or 100,000 for eight, and little
 * beside a store of so many, whose records take ten times as much.
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
