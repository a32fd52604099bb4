import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { DEFAULT_SETTINGS } from '../../records/settings.ts';
import type { ReplicateOptions } from '../../replica/run/options.ts';
import { sourceName } from '../../replica/run/options.ts';
import { type ReplicateResult, replicate } from '../../replica/run/replicate.ts';
import type { Quarantined } from '../../store/checkpoints.ts';
import { systemClock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { duration } from '../duration.ts';
import { openPatiently } from '../open-patiently.ts';
import { openStore } from '../open-store.ts';
import {
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  NO_CREATE_OPTION,
  option,
  STORE_OPTION,
  wholeNumber,
} from '../options.ts';
import { EXIT } from '../output.ts';
import type { ReplicaAdmin } from '../replica-admin.ts';
import { replicaScreen } from '../replica-screen.ts';
import { onShutdown } from '../shutdown.ts';
import { addSourceOptions, type SourceSettings, sourceOptions } from '../source-options.ts';

interface ReplicateSettings extends SourceSettings {
  readonly once?: boolean;
  readonly watch?: boolean;
  readonly step?: 'initial' | 'update' | 'purge';
  readonly refresh?: boolean;
  readonly updateEvery: string;
  readonly purgeEvery: string;
  readonly accountsEvery: string;
  readonly drift: 'evolve' | 'freeze' | 'discard';
  readonly purgeShare: number;
  readonly media: 'records' | 'files';
  readonly mediaFolder?: string;
  readonly mediaPrivateHosts?: boolean;
  readonly force?: boolean;
  readonly adminPort: number;
  readonly adminHost: string;
  readonly requestsPerSecond?: number;
  readonly requestsPerHour?: number;
  readonly requestsPerDay?: number;
  readonly bytesPerHour?: number;
  readonly bytesPerDay?: number;
}

/** What waits and is worked on has to fit in 200 MB, however large the feed is. */
const CACHE_MEGABYTES = 8;

const LIMITS = {
  requestsPerSecond: '--requests-per-second <n>',
  requestsPerHour: '--requests-per-hour <n>',
  requestsPerDay: '--requests-per-day <n>',
  bytesPerHour: '--bytes-per-hour <n>',
  bytesPerDay: '--bytes-per-day <n>',
} as const;

export function defineReplicate(command: Command): void {
  command
    .addOption(STORE_OPTION())
    .addOption(NO_CREATE_OPTION())
    .addOption(CLOCK_OPTION())
    .addOption(CONFIG_OPTION());
  addSourceOptions(command)
    .addOption(option('--once', 'do what is due and end (the default)').conflicts('watch'))
    .addOption(option('--watch', 'go on until told to end').conflicts('step'))
    .addOption(option('--step <step>', 'one step alone').choices(['initial', 'update', 'purge']))
    .addOption(
      option('--refresh', 'read everything again, for what verify found').conflicts(['watch', 'step']),
    )
    .addOption(option('--update-every <duration>', 'while watching').default('15m'))
    .addOption(option('--purge-every <duration>', 'from one sweep of all keys to the next').default('20h'))
    .addOption(option('--accounts-every <duration>', 'agents and offices, while watching').default('1h'))
    .addOption(
      option('--drift <policy>', 'what is done with fields that the dictionary does not have')
        .choices(['evolve', 'freeze', 'discard'])
        .default('evolve'),
    )
    .addOption(
      option('--purge-share <percent>', 'most that one purge deletes without --force')
        .argParser(wholeNumber(0, 100))
        .default(20),
    )
    .addOption(
      option('--media <what>', 'records, or the files of media, too')
        .choices(['records', 'files'])
        .default('records'),
    )
    .addOption(option('--media-folder <dir>', 'where the files go; STORE.media if it is not given'))
    .addOption(option('--media-private-hosts', 'fetch files of private networks, too'))
    .addOption(option('--force', 'purge however much goes; take the copy over to another address'))
    .addOption(
      option('--admin-port <port>', 'of probes and metrics while watching; 0 picks a free one')
        .argParser(wholeNumber(0, 65_535))
        .default(8084),
    )
    .addOption(option('--admin-host <host>', 'address of the admin port').default('127.0.0.1'));
  for (const flags of Object.values(LIMITS)) {
    const most = Number.MAX_SAFE_INTEGER;
    command.addOption(option(flags, 'that the source allows this token').argParser(wholeNumber(1, most)));
  }
  command.action(async () => {
    const config = await applyConfig(command);
    const settings: ReplicateSettings & { store: string; create: boolean; allowClockJump?: boolean } =
      command.opts();
    const given = { ...sourceOptions(settings), ...timesOf(settings) };
    const shutdown = onShutdown(settings.watch === true);
    const named = command.getOptionValueSource('resources') !== 'default';
    const hasAccounts = given.resources.some((name) => name === 'Member' || name === 'Office');
    const base = {
      ...DEFAULT_SETTINGS,
      owner: 'replica',
      agentsFrom: hasAccounts ? 'records' : 'payload',
    } as const;
    const open = (): Promise<Store> =>
      openStore(settings.store, {
        create: settings.create,
        base,
        config,
        cacheMegabytes: CACHE_MEGABYTES,
        allowClockJump: settings.allowClockJump,
      });
    const screen = replicaScreen(sourceName(given));
    const admin = settings.watch === true ? await watchAdmin(sourceName(given), settings) : undefined;
    const onFailure = (reason: string, wait: number): void => {
      screen.show({ kind: 'failed', reason, wait });
      admin?.waits(reason);
    };
    let store: Store | undefined;
    try {
      store =
        settings.watch === true
          ? await openPatiently(open, {
              clock: systemClock,
              random: Math.random,
              signal: shutdown.signal,
              onFailure,
            })
          : await open();
      if (store === undefined) {
        screen.end('stopped', {});
        return;
      }
      admin?.opened(store);
      const options: ReplicateOptions = {
        ...given,
        ...(named ? {} : { resources: undefined }),
        store,
        signal: shutdown.signal,
        watch: settings.watch === true,
        ...(settings.media === 'files'
          ? {
              mediaFolder: settings.mediaFolder ?? besideStore(settings.store),
              mediaPrivateHosts: settings.mediaPrivateHosts === true,
            }
          : {}),
        onEvent: (event) => {
          screen.show(event);
          admin?.count(event);
        },
      };
      const result = await replicate(options);
      const quarantined =
        settings.watch === true ? [] : await store.checkpoints.quarantined(sourceName(given));
      screen.end(result, countsOf(quarantined));
      process.exitCode = exitOf(result, quarantined.length);
    } finally {
      await admin?.close();
      await store?.close();
    }
  });
}

/** What a person has to decide is told before what a person has to mend. */
function exitOf(result: ReplicateResult, quarantined: number): number {
  if (result === 'guarded' || result === 'unsure') return EXIT.differs;
  return quarantined > 0 ? EXIT.failed : EXIT.done;
}

/** How many of each resource. */
function countsOf(quarantined: readonly Quarantined[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(quarantined, ({ resource }) => resource);
  return Object.fromEntries([...groups].map(([resource, entries]) => [resource, entries.length]));
}

/** @throws PlatError `usage` for a store that lies in no folder */
function besideStore(store: string): string {
  if (!/^postgres(ql)?:/.test(store)) return `${store.replace(/^sqlite:/, '')}.media`;
  throw platError('usage', { reason: '--media files needs a --media-folder where the store is a database.' });
}

function timesOf(settings: ReplicateSettings) {
  const { step, refresh, drift, purgeShare, force, updateEvery, purgeEvery, accountsEvery } = settings;
  const limits = Object.fromEntries(
    Object.keys(LIMITS).flatMap((name) => {
      const value: unknown = Reflect.get(settings, name);
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
  return {
    ...(step === undefined ? {} : { step }),
    refresh: refresh === true,
    drift,
    purgeShare: purgeShare / 100,
    force: force === true,
    limits,
    updateEvery: duration(updateEvery),
    purgeEvery: duration(purgeEvery),
    accountsEvery: duration(accountsEvery),
  };
}

/** A watch tells its probes what it waits for from its beginning; one run needs no server, and loads none. */
async function watchAdmin(
  source: string,
  { adminHost: host, adminPort: port }: ReplicateSettings,
): Promise<ReplicaAdmin> {
  const { replicaAdmin } = await import('../replica-admin.ts');
  return await replicaAdmin(source, { host, port });
}
