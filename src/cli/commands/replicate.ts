import type { Command } from 'commander';
import { usageError } from '../../errors/index.ts';
import { DEFAULT_SETTINGS } from '../../records/settings.ts';
import { FILES } from '../../replica/copy/pending-fetches.ts';
import type { ReplicaEvent } from '../../replica/events.ts';
import { RequestFailure } from '../../replica/http/failure.ts';
import { InMemoryUsage } from '../../replica/http/rate-budget.ts';
import type { FollowMethod, ReplicateOptions } from '../../replica/run/options.ts';
import { sourceName } from '../../replica/run/options.ts';
import { type ReplicateResult, replicateContacted } from '../../replica/run/replicate.ts';
import { type Contact, contactSource } from '../../replica/run/session.ts';
import { CHANGE_METHODS } from '../../replica/source/source.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Quarantined } from '../../store/checkpoint/checkpoints.ts';
import type { Store } from '../../store/store.ts';
import { collector, threadHeap } from '../garbage-collector.ts';
import { openConfigured } from '../open-store.ts';
import { openPatiently } from '../open-with-retries.ts';
import {
  addOptions,
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  JSON_OPTION,
  listenAddress,
  NO_CREATE_OPTION,
  option,
  parseDuration,
  STORE_OPTION,
  wholeNumber,
} from '../options.ts';
import { EXIT } from '../output.ts';
import type { ReplicaAdmin } from '../replica-admin.ts';
import { replicaScreen } from '../replica-screen.ts';
import { onShutdown } from '../shutdown.ts';
import { addSourceOptions, isSetExplicitly, type SourceSettings, sourceOptions } from '../source-options.ts';

/** The options, besides those of `LIMITS`. */
interface ReplicateSettings extends SourceSettings {
  readonly store: string;
  readonly create: boolean;
  readonly allowClockJump?: boolean;
  readonly watch?: boolean;
  readonly step?: 'initial' | 'update' | 'purge';
  readonly refresh?: boolean;
  readonly updateEvery: string;
  readonly purgeEvery: string;
  readonly accountsEvery: string;
  readonly followBy: FollowMethod;
  readonly proofEvery: string;
  readonly drift: 'evolve' | 'freeze' | 'discard';
  readonly purgeShare: number;
  readonly media: 'records' | 'files';
  readonly mediaFolder?: string;
  readonly mediaPrivateHosts?: boolean;
  readonly force?: boolean;
  readonly adminPort: number;
  readonly adminHost: string;
  readonly json?: boolean;
}

/** The page caches of an embedded store. The whole process stays below 200 MB, however large the feed is. */
const CACHE_MEGABYTES = { writing: 16, reading: 2 };

const LIMITS = {
  requestsPerSecond: '--requests-per-second <n>',
  requestsPerHour: '--requests-per-hour <n>',
  requestsPerDay: '--requests-per-day <n>',
  bytesPerHour: '--bytes-per-hour <n>',
  bytesPerDay: '--bytes-per-day <n>',
} as const;

export function defineReplicate(command: Command): void {
  addOptions(command, STORE_OPTION(), NO_CREATE_OPTION(), CLOCK_OPTION(), CONFIG_OPTION());
  addOptions(
    addSourceOptions(command),
    option('--once', 'do what is due and exit (the default)').conflicts('watch'),
    option('--watch', 'run until stopped').conflicts('step'),
    option('--step <step>', 'run a single step').choices(['initial', 'update', 'purge']),
    option('--refresh', 'read everything again, to repair differences that verify found').conflicts([
      'watch',
      'step',
    ]),
    option('--update-every <duration>', 'interval between updates while watching').default('15m'),
    option('--purge-every <duration>', 'interval between sweeps of all keys').default('20h'),
    option(
      '--accounts-every <duration>',
      'interval between copies of agents and offices while watching',
    ).default('1h'),
    option(
      '--follow-by <way>',
      'how a watch learns of changes: by the best method that the source offers, or by this one',
    )
      .choices(['auto', ...CHANGE_METHODS, 'windows'])
      .default('auto'),
    option(
      '--proof-every <duration>',
      'interval between sweeps of all keys while the source reports every change itself',
    ).default('7d'),
    option('--drift <policy>', 'what to do with fields that are not in the dictionary')
      .choices(['evolve', 'freeze', 'discard'])
      .default('evolve'),
    option('--purge-share <percent>', 'maximum percentage of records that one purge deletes without --force')
      .argParser(wholeNumber(0, 100))
      .default(20),
    option('--media <what>', 'whether to copy records only, or also media files')
      .choices(['records', 'files'])
      .default('records'),
    option('--media-folder <dir>', 'folder for media files; STORE.media by default'),
    option('--media-private-hosts', 'also download media files from private networks'),
    option('--force', 'purge any number of records; move the copy to another address'),
    option('--admin-port <port>', 'port of health checks and metrics while watching; 0 picks a free port')
      .argParser(wholeNumber(0, 65_535))
      .default(8084),
    option('--admin-host <host>', 'address of the admin port').default('127.0.0.1').argParser(listenAddress),
    ...Object.values(LIMITS).map((flags) =>
      option(flags, 'limit of the source for this token; none by default').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    ),
    JSON_OPTION(),
  );
  command.action(() => runReplicate(command));
}

async function runReplicate(command: Command): Promise<void> {
  const config = await applyConfig(command);
  const settings: ReplicateSettings = command.opts();
  const isWatching = settings.watch === true && !isSingleRun(command);
  const given = { ...(await sourceOptions(command)), ...runOptions(settings) };
  const { signal } = onShutdown(isWatching);
  const hasAccounts = given.resources.some((name) => name === 'Member' || name === 'Office');
  const base = {
    ...DEFAULT_SETTINGS,
    owner: 'replica',
    agentsFrom: hasAccounts ? 'records' : 'payload',
  } as const;
  const screen = replicaScreen(sourceName(given), settings.json);
  const heap = threadHeap();
  const collect = heap && collector(heap);
  const source = {
    ...given,
    resources: isSetExplicitly(command, 'resources') ? given.resources : undefined,
    signal,
    watch: isWatching,
    onEvent: (event: ReplicaEvent): void => {
      collect?.();
      screen.show(event);
      admin?.count(event);
    },
  };
  // The usage of the token in all attempts to reach the source, until there is a store.
  const usage = new InMemoryUsage();
  let contact: Contact | undefined;
  const open = (): Promise<Store> =>
    openConfigured(settings.store, {
      create: settings.create,
      base,
      config,
      cacheMegabytes: CACHE_MEGABYTES,
      beforeCreation: async ({ dictionary }) => {
        contact = await contactSource(source, dictionary, usage);
      },
      allowClockJump: settings.allowClockJump,
    });
  const admin = isWatching ? await watchAdmin(sourceName(given), settings) : undefined;
  const onFailure = (reason: string, wait: number, isOfSource: boolean): void => {
    screen.show({ kind: 'failed', reason, wait });
    admin?.reportWaiting(reason, isOfSource);
  };
  let store: Store | undefined;
  try {
    store = isWatching
      ? await openPatiently(open, { clock: systemClock, random: Math.random, signal, onFailure })
      : await open().catch(nothingIfStopped);
    if (store === undefined) {
      screen.end('stopped', { quarantined: {}, withoutFiles: 0 });
      return;
    }
    admin?.reportOpened(store);
    await usage.moveTo(store.checkpoints);
    const options: ReplicateOptions = { ...source, ...mediaOptions(settings), store };
    const result = await replicateContacted(options, contact);
    const left = isWatching ? { quarantined: [], withoutFiles: 0 } : await unfinishedWork(store, options);
    screen.end(result, { ...left, quarantined: countsOf(left.quarantined) });
    process.exitCode = exitOf(result, left.quarantined.length + left.withoutFiles);
  } finally {
    await admin?.close();
    await store?.close();
  }
}

/** Whoever stops a single run before there is a store gets no error. */
function nothingIfStopped(error: unknown): undefined {
  if (!(error instanceof RequestFailure) || error.kind !== 'stopped') throw error;
}

/** What a run could not complete: the quarantined records, and the number of listings with missing files. */
async function unfinishedWork({ checkpoints }: Store, options: ReplicateOptions) {
  const name = sourceName(options);
  const fetches = options.mediaFolder !== undefined && options.step === undefined;
  return {
    quarantined: await checkpoints.quarantined(name),
    withoutFiles: fetches ? await checkpoints.pendingCount(name, 'Property', FILES) : 0,
  };
}

/** The exit code. A result that requires a decision takes precedence over unfinished work. */
function exitOf(result: ReplicateResult, left: number): number {
  if (result === 'guarded' || result === 'unsure') return EXIT.differs;
  return left > 0 ? EXIT.failed : EXIT.done;
}

function countsOf(quarantined: readonly Quarantined[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(quarantined, ({ resource }) => resource);
  return Object.fromEntries([...groups].map(([resource, entries]) => [resource, entries.length]));
}

function mediaOptions({ media, mediaFolder, mediaPrivateHosts, store }: ReplicateSettings) {
  if (media === 'records') return {};
  return {
    mediaFolder: mediaFolder ?? mediaFolderOf(store),
    mediaPrivateHosts: mediaPrivateHosts === true,
  };
}

/** @throws PlatError `usage` for a store that is not a file */
function mediaFolderOf(store: string): string {
  if (!/^postgres(ql)?:/.test(store)) return `${store.replace(/^sqlite:/, '')}.media`;
  throw usageError('--media files requires a --media-folder if the store is a database.');
}

function runOptions(settings: ReplicateSettings) {
  const {
    step,
    refresh,
    drift,
    purgeShare,
    force,
    updateEvery,
    purgeEvery,
    accountsEvery,
    followBy,
    proofEvery,
  } = settings;
  const limits = Object.fromEntries(
    Object.keys(LIMITS).flatMap((name) => {
      const value: unknown = Reflect.get(settings, name);
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
  return {
    step,
    refresh: refresh === true,
    drift,
    purgeShare: purgeShare / 100,
    force: force === true,
    limits,
    updateEvery: parseDuration('--update-every', updateEvery),
    purgeEvery: parseDuration('--purge-every', purgeEvery),
    accountsEvery: parseDuration('--accounts-every', accountsEvery),
    follow: followBy,
    proofEvery: parseDuration('--proof-every', proofEvery),
  };
}

/** Whether the command line or the environment requests a single run, which takes precedence over `watch` in the configuration. */
const isSingleRun = (command: Command): boolean =>
  command.getOptionValueSource('watch') === 'config' &&
  ['once', 'step', 'refresh'].some((name) =>
    ['cli', 'env'].includes(String(command.getOptionValueSource(name))),
  );

/** A watch serves its health checks from the start. A single run needs no server and loads none. */
async function watchAdmin(
  source: string,
  { adminHost: host, adminPort: port }: ReplicateSettings,
): Promise<ReplicaAdmin> {
  const { serveReplicaAdmin } = await import('../replica-admin.ts');
  return await serveReplicaAdmin(source, { host, port });
}
