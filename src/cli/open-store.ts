import { openStore as openAnyStore, storeAddress, withoutPassword } from '../open-store.ts';
import { DEFAULT_SETTINGS, type StoreSettings } from '../records/settings.ts';
import { openMode } from '../store/files/private-file.ts';
import type { PartitionField, Store } from '../store/store.ts';
import { aheadText } from '../store/write/bring-back.ts';
import type { ConfigFile } from './config.ts';
import { mustHaveFolder } from './paths.ts';
import { reportLines } from './terminal.ts';

/** Seconds that a reading waits for a read store that is behind. */
const READ_LAG = 0.25;

export interface OpenOptions {
  /** Whether a store is made where there is none. */
  readonly create: boolean;
  /** What a new store begins with; an authority if it is not said. */
  readonly base?: StoreSettings;
  /** Whether reads run on threads of their own, as a service wants it. */
  readonly threads?: boolean;
  /** Whether rows are checked on threads of their own. */
  readonly checks?: boolean;
  readonly config?: ConfigFile;
  /** By what a new store is laid apart; as the configuration says, if it is not said. */
  readonly partitions?: PartitionField | undefined;
  readonly cacheMegabytes?: number;
  /** The clock is right, however far it was set ahead. */
  readonly allowClockJump?: boolean | undefined;
}

/** Settings of a store as the configuration changes them. */
export function configured(settings: StoreSettings, config: ConfigFile): StoreSettings {
  const { dictionary, roles, withheld, timeZone, onwardTimestamps } = config;
  const names = new Set(roles?.map((role) => role.name));
  const builtIn = DEFAULT_SETTINGS.access;
  return {
    ...settings,
    ...(dictionary === undefined ? {} : { declarations: { ...settings.declarations, ...dictionary } }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(onwardTimestamps === undefined ? {} : { onwardTimestamps }),
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
export async function openStore(text: string, options: OpenOptions): Promise<Store> {
  const {
    create,
    base = DEFAULT_SETTINGS,
    threads = false,
    checks = false,
    config = {},
    cacheMegabytes,
    allowClockJump,
  } = options;
  const { partitions = config.partitions } = options;
  const address = storeAddress(text);
  const { readStores } = config;
  if (create && address.engine === 'sqlite') mustHaveFolder(address.path);
  const store = await openAnyStore(text, {
    ...(create ? { create: configured(base, config), onCreate: (kept) => reportNew(text, kept) } : {}),
    threads,
    checks,
    ...(partitions === undefined ? {} : { partitions }),
    ...(threads && readStores !== undefined
      ? { readStores: { addresses: readStores, lag: (config.readLagSeconds ?? READ_LAG) * 1000 } }
      : {}),
    ...(cacheMegabytes === undefined ? {} : { cacheMegabytes }),
    allowClockJump,
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  // Said once, it is kept for all processes, also where this one has nothing to write.
  if (allowClockJump === true) await store.horizon();
  await store.configure((settings) => configured(settings, config));
  if (address.engine === 'sqlite') reportOpenMode(address.path);
  const ahead = await store.ahead();
  if (ahead !== undefined) reportLines(`${store.name}: ${aheadText(ahead)}`);
  opened.move(); // whoever has the store closes it
  return store;
}

/** A mistyped path, or a folder that is not mounted, makes an empty store: it is said before anything else. */
function reportNew(text: string, kept: readonly string[]): void {
  const log = kept.length === 0 ? '' : `; the log of a file that was deleted is kept as ${kept.join(', ')}`;
  reportLines(`${withoutPassword(text)} is a new store: there was none here${log}`);
}

/** What an operator opened to others stays so: programs of others may query a replica (docs/sql-views.md). */
function reportOpenMode(path: string): void {
  const mode = openMode(path);
  if (mode !== undefined) {
    reportLines(`${path} has mode ${mode}, so others may read it; "chmod 600" keeps it to its owner`);
  }
}
