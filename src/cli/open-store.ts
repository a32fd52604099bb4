import { platError } from '../errors/index.ts';
import { DEFAULT_SETTINGS, type StoreSettings } from '../store/settings.ts';
import { defaultReaders, openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import type { ConfigFile } from './config.ts';
import { mustHaveFolder } from './paths.ts';

/** `STORE` as the contract writes it. */
export interface StoreAddress {
  readonly engine: 'sqlite';
  readonly path: string;
}

export function storeAddress(text: string): StoreAddress {
  if (/^postgres(ql)?:\/\//.test(text)) {
    throw platError('usage', { reason: 'This build of plat has no PostgreSQL engine.' });
  }
  const path = text.replace(/^sqlite:/, '');
  if (path === '') throw platError('usage', { reason: 'The store has no path.' });
  return { engine: 'sqlite', path };
}

export interface OpenOptions {
  /** Whether a store is made where there is none. */
  readonly create: boolean;
  /** What a new store begins with; an authority if it is not said. */
  readonly base?: StoreSettings;
  /** Whether reads run on threads of their own, as a service wants it. */
  readonly threads?: boolean;
  readonly config?: ConfigFile;
  readonly cacheMegabytes?: number;
}

/** Settings of a store as the configuration changes them. */
export function configured(settings: StoreSettings, config: ConfigFile): StoreSettings {
  const { dictionary, roles, withheld, timeZone } = config;
  const names = new Set(roles?.map((role) => role.name));
  const builtIn = DEFAULT_SETTINGS.access;
  return {
    ...settings,
    ...(dictionary === undefined ? {} : { declarations: { ...settings.declarations, ...dictionary } }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(roles === undefined && withheld === undefined
      ? {}
      : {
          access: {
            roles: [...builtIn.roles.filter(({ name }) => !names.has(name)), ...(roles ?? [])],
            withheld: withheld ?? builtIn.withheld,
          },
        }),
  };
}

/** Opens a store, and brings it in line with the configuration if that says anything of it. */
export async function openStore(
  text: string,
  { create, base = DEFAULT_SETTINGS, threads = false, config = {}, cacheMegabytes }: OpenOptions,
): Promise<Store> {
  const { path } = storeAddress(text);
  if (create) mustHaveFolder(path);
  const readers = threads ? defaultReaders() : 0;
  const store = await openSqliteStore({
    path,
    ...(create ? { create: configured(base, config) } : {}),
    pageReaders: readers,
    searchReaders: readers,
    ...(cacheMegabytes === undefined ? {} : { cacheMegabytes }),
  });
  await store.configure((settings) => configured(settings, config));
  return store;
}
