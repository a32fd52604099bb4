/**
 * Opens the store of a command: applies the configuration, and reports what the operator should know. `src/open-store.ts` chooses
 * the engine; this module knows nothing about engines.
 */
import { mustNameClasses } from '../access/index.ts';
import type { StoreModel } from '../compile/model.ts';
import { type ErrorCode, PlatError } from '../errors/index.ts';
import { type OpenStoreOptions, openStore, parseStoreAddress, withoutPassword } from '../open-store.ts';
import { DEFAULT_SETTINGS, type StoreSettings } from '../records/settings.ts';
import { openMode } from '../store/files/private-file.ts';
import { modelOfNewStore } from '../store/state/new-store.ts';
import type { PartitionField, Store } from '../store/store.ts';
import { aheadText } from '../store/write/restamp-store.ts';
import type { ConfigFile } from './config.ts';
import { mustHaveFolder } from './options.ts';
import { reportLines } from './terminal.ts';

/** The number of seconds that a read waits for a lagging standby. */
const READ_LAG = 0.25;

interface OpenOptions {
  readonly create: boolean;
  /** The settings of a new store; by default, those of an authority. */
  readonly base?: StoreSettings;
  /** Whether reads run on separate threads, as in a service. */
  readonly threads?: boolean;
  /** Whether rows are checked on separate threads. */
  readonly checks?: boolean;
  readonly config?: ConfigFile;
  /** The partition key of a new store; by default the one in the configuration. */
  readonly partitions?: PartitionField | undefined;
  readonly cacheMegabytes?: OpenStoreOptions['cacheMegabytes'];
  /** Called before a store is created, to reject a request that cannot succeed with a new store. @throws PlatError `usage` */
  readonly beforeCreation?: ((model: StoreModel) => unknown) | undefined;
  /** Whether to accept the clock, however far it has been set ahead. */
  readonly allowClockJump?: boolean | undefined;
}

/** Applies the configuration to the settings of a store. @throws PlatError `usage` */
export function withConfiguration(settings: StoreSettings, config: ConfigFile): StoreSettings {
  const { dictionary, roles, withheld, timeZone, onwardTimestamps, changes = {} } = config;
  const kept = {
    ...(changes.keepDays === undefined ? {} : { days: changes.keepDays }),
    ...(changes.keepEntries === undefined ? {} : { entries: changes.keepEntries }),
  };
  const names = new Set(roles?.map((role) => role.name));
  const builtIn = DEFAULT_SETTINGS.access;
  const changed = {
    ...settings,
    ...(dictionary === undefined ? {} : { declarations: { ...settings.declarations, ...dictionary } }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(onwardTimestamps === undefined ? {} : { onwardTimestamps }),
    ...(Object.keys(kept).length === 0 ? {} : { changesKept: kept }),
    ...(roles === undefined && withheld === undefined
      ? {}
      : {
          access: {
            roles: [...builtIn.roles.filter(({ name }) => !names.has(name)), ...(roles ?? [])],
            withheld: withheld ?? builtIn.withheld,
          },
        }),
  };
  if (changed.access !== settings.access)
    mustNameClasses(changed.access, modelOfNewStore(changed).dictionary);
  return changed;
}

/** Opens a store, runs work on it, and closes it. */
export async function withStore<Result>(
  text: string,
  options: OpenOptions,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openConfigured(text, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Opens a store and applies the configuration to it. The caller closes it. */
export async function openConfigured(text: string, options: OpenOptions): Promise<Store> {
  const {
    create,
    base = DEFAULT_SETTINGS,
    threads = false,
    checks = false,
    config = {},
    cacheMegabytes,
    allowClockJump,
    beforeCreation,
  } = options;
  const { partitions = config.partitions } = options;
  const address = parseStoreAddress(text);
  const { readStores } = config;
  if (create && address.engine === 'sqlite') mustHaveFolder(address.path);
  const settings = withConfiguration(base, config);
  const opening = {
    threads,
    checks,
    partitions,
    ...(threads && readStores !== undefined
      ? { readStores: { addresses: readStores, lag: (config.readLagSeconds ?? READ_LAG) * 1000 } }
      : {}),
    cacheMegabytes,
    allowClockJump,
  };
  const existing = create && beforeCreation !== undefined ? await openExisting(text, opening) : undefined;
  if (create && existing === undefined) await beforeCreation?.(modelOfNewStore(settings));
  const store =
    existing ??
    (await openStore(text, {
      ...opening,
      ...(create ? { create: settings, onCreate: (kept) => reportNew(text, kept) } : {}),
    }));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  // Saves the confirmation for all processes, even if this one writes nothing.
  if (allowClockJump === true) await store.horizon();
  await store.configure((settings) => withConfiguration(settings, config));
  if (address.engine === 'sqlite') reportOpenMode(address.path);
  const ahead = await store.ahead();
  if (ahead !== undefined) reportLines(`${store.name}: ${aheadText(ahead)}`);
  opened.move(); // the caller closes the store
  return store;
}

/** Opens a store; undefined if there is none. */
async function openExisting(text: string, options: OpenStoreOptions): Promise<Store | undefined> {
  try {
    return await openStore(text, options);
  } catch (error) {
    if (error instanceof PlatError && NO_STORE.has(error.code)) return undefined;
    throw error;
  }
}

const NO_STORE: ReadonlySet<string> = new Set<ErrorCode>(['storeMissing', 'storeNotOurs']);

/** Reports a new store before anything else, because a mistyped path, or a folder that is not mounted, creates an empty store. */
function reportNew(text: string, kept: readonly string[]): void {
  const log = kept.length === 0 ? '' : `; the log of a deleted file is kept as ${kept.join(', ')}`;
  reportLines(`${withoutPassword(text)} is a new store: none existed here${log}`);
}

/**
 * Reports a file mode that permits access by others, but does not change it: an operator may have chosen it so that others can
 * query a replica (docs/sql-views.md).
 */
function reportOpenMode(path: string): void {
  const mode = openMode(path);
  if (mode !== undefined) {
    reportLines(`${path} has mode ${mode}, so others can read it; "chmod 600" restricts it to its owner`);
  }
}
