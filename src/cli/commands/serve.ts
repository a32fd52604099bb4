import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Logger, pino } from 'pino';
import { withoutTokens } from '../../access/index.ts';
import { usageError } from '../../errors/index.ts';
import { replicaSources } from '../../replica/checkpoint/checkpoint.ts';
import { quarantinePage, replicaReport, sourceStatus } from '../../replica/status.ts';
import type { ReadinessCheck } from '../../service/admin/readiness.ts';
import { CONSOLE_ROOT } from '../../service/console/console-files.ts';
import type { ReplicaControls } from '../../service/console/replication.ts';
import { isAnyHost } from '../../service/http/base-address.ts';
import type { ListenOptions } from '../../service/http/listen.ts';
import { type FileSource, SERVICE_DEFAULTS, type ServiceOptions } from '../../service/options.ts';
import { type Service, startService } from '../../service/service.ts';
import { PUBLIC_SURFACES, SURFACES, type SurfaceName } from '../../service/surface.ts';
import { systemClock } from '../../shared/clock.ts';
import { SCRUB_DEFAULTS, Scrub } from '../../store/check/scrub.ts';
import type { Store } from '../../store/store.ts';
import { testWebhook } from '../../webhooks/operations.ts';
import { WebhookSender } from '../../webhooks/sender.ts';
import { keptPages } from '../cache-file-location.ts';
import type { ConfigFile } from '../config.ts';
import { linkLines } from '../link-lines.ts';
import { openConfigured } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CONFIG_OPTION,
  JSON_OPTION,
  listenAddress,
  option,
  STORE_OPTION,
  wholeNumber,
} from '../options.ts';
import { consoleOutlines } from '../outlines-file.ts';
import { print } from '../output.ts';
import { marketFiles, Rasterizer } from '../photos/market-files.ts';
import { onShutdown, type Shutdown } from '../shutdown.ts';
import { logStream } from '../terminal.ts';
import { webhookPost } from '../webhook-post.ts';

/** Adds the options that all commands with a service have. */
export function addServeOptions(command: Command): Command {
  const port = wholeNumber(0, 65_535);
  return addOptions(
    command,
    CONFIG_OPTION(),
    option('--host <host>', 'address to listen on').default('127.0.0.1').argParser(listenAddress),
    option('--api-port <port>', 'port of the regular interfaces').argParser(port).default(8080),
    option('--replication-port <port>', 'port of the replication interfaces').argParser(port).default(8081),
    option('--floorplans-port <port>', 'port of the floor plan interface').argParser(port).default(8082),
    option('--admin-port <port>', 'port of health checks, metrics and key usage')
      .argParser(port)
      .default(8083),
    option('--admin-host <host>', 'address of the admin port').default('127.0.0.1').argParser(listenAddress),
    option('--tls-cert <file>', 'file with the certificate chain in PEM format'),
    option('--tls-key <file>', 'file with the private key in PEM format'),
    option(
      '--public-url <urls>',
      'public base URLs of the surfaces: api=URL,replication=URL,floorplans=URL,admin=URL',
    ),
    option('--trust-proxy', 'trust Host, X-Forwarded-* and Forwarded from a proxy in front'),
    option('--log-level <level>', 'minimum level of log lines')
      .choices(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info'),
    JSON_OPTION(),
  );
}

export interface ServeSettings {
  readonly host: string;
  readonly adminHost: string;
  readonly apiPort: number;
  readonly replicationPort: number;
  readonly floorplansPort: number;
  readonly adminPort: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly publicUrl?: string | Readonly<Partial<Record<SurfaceName, string>>>;
  readonly trustProxy?: boolean;
  readonly logLevel: string;
  readonly json?: boolean;
}

/** Starts the service of a store. */
export async function serveStore(
  store: Store,
  settings: ServeSettings & { readonly store: string },
  config: ConfigFile,
): Promise<Service> {
  const log = makeLog(settings.logLevel);
  const rasterizer = new Rasterizer();
  const files: FileSource[] = [marketFiles(store, rasterizer)];
  const scrub = new Scrub(store, {
    limits: { ...SCRUB_DEFAULTS, ...config.scrub },
    sleep: systemClock.sleep,
    elapsed: () => performance.now(),
    onFault: (fault) => log.error(fault, 'found damage in the store'),
    onEnd: (err) => log.warn({ err }, 'the scan of the store was not completed'),
  });
  const webhooks = webhookDelivery(store, log);
  const options: ServiceOptions = {
    ...SERVICE_DEFAULTS,
    store,
    files,
    clock: systemClock,
    log,
    publicUrls: parsePublicUrls(settings.publicUrl),
    trustProxy: settings.trustProxy ?? false,
    limits: { ...SERVICE_DEFAULTS.limits, ...config.limits },
    keptPages: await keptPages(settings.store, config),
    filterIndex: { ...SERVICE_DEFAULTS.filterIndex, ...config.filterIndex },
    streams: { perKey: config.changes?.streamsPerKey ?? SERVICE_DEFAULTS.streams.perKey },
    budget: { ...SERVICE_DEFAULTS.budget, ...config.budget },
    connections: { ...SERVICE_DEFAULTS.connections, ...config.connections },
    pace: { ...SERVICE_DEFAULTS.pace, ...config.pace },
    lookups: config.lookups ?? SERVICE_DEFAULTS.lookups,
    querySeconds: config.querySeconds ?? SERVICE_DEFAULTS.querySeconds,
    outlines: await consoleOutlines(store, config),
    damaged: () => scrub.damagedRecords(),
    onUnknownDamage: () => scrub.expedite(),
    replica: replicaDesk(store),
    webhooks: webhooks.desk,
  };
  const readiness = [replicaFreshness(store), { name: 'records', check: () => scrub.problem() }];
  const service = await startService(options, listenOptions(settings, config), readiness);
  scrub.start();
  webhooks.sender.start();
  return {
    ...service,
    close: async () => {
      // The reads of the scan may be queued behind those of requests, so the service does not wait for it.
      void scrub.close();
      await Promise.all([service.close(), webhooks.close()]);
      await rasterizer.close();
    },
  };
}

/** Sends the changes of a store to its webhooks. */
function webhookDelivery(store: Store, log: Logger) {
  const { post, close } = webhookPost();
  const now = (): number => systemClock.now();
  const closing = new AbortController();
  const sender = new WebhookSender({
    ...{ store, post, now, elapsed: () => performance.now(), random: Math.random },
    sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => undefined),
    // The path of the URL may contain a secret of the receiver, so only the host is logged.
    onPaused: ({ id, url }, why) =>
      log.error({ webhook: id, host: new URL(url).host, why }, 'a webhook is paused'),
    onTrouble: (err) => log.warn({ err }, 'webhooks could not be processed'),
  });
  return {
    sender,
    desk: {
      test: (id: string) => testWebhook(store, id, { post, now, signal: closing.signal }),
      states: () => sender.states,
    },
    close: async () => {
      closing.abort();
      await sender.close();
      await close();
    },
  };
}

/** Logs JSON lines to stderr. Tokens are redacted, also those that a client has put into a path. */
function makeLog(level: string): Logger {
  const stream = logStream(pino.destination);
  const redact = { paths: ['*.authorization', 'authorization', '*.token', 'token'], censor: '[hidden]' };
  return pino(
    { level, redact, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => stream.write(withoutTokens(line)) },
  );
}

/** A service of a replica is ready if the copies of all of its sources are fresh. */
const replicaFreshness = (store: Store): ReadinessCheck => ({
  name: 'replica',
  async check() {
    const stale: string[] = [];
    for (const source of await replicaSources(store)) {
      const status = await sourceStatus(store, source, Date.now());
      if (status.stale !== undefined) stale.push(`${source}: ${status.stale}`);
    }
    return stale.length === 0 ? undefined : stale.join('; ');
  },
});

/** The roots of the interfaces of each surface, the address of the console, and where the surfaces listen. */
export const addressesOf = ({ addresses, listening }: Pick<Service, 'addresses' | 'listening'>) => ({
  api: { reso: `${addresses.api}/Reso/OData/`, native: `${addresses.api}/v1/` },
  replication: { reso: `${addresses.replication}/Reso/OData/`, native: `${addresses.replication}/v1/` },
  floorplans: { reso: `${addresses.floorplans}/Reso/` },
  admin: { root: `${addresses.admin}/` },
  console: `${addresses.admin}${CONSOLE_ROOT}/`,
  listens: listening,
});

/** The functions of the console for a replica. A retry does not interrupt a process that is replicating. */
const replicaDesk = (store: Store): ReplicaControls => ({
  report: (now) => replicaReport(store, now),
  quarantine: (request) => quarantinePage(store, request),
  // The consumer, which a retry needs to query the source, is loaded on demand.
  retry: async (request) => {
    const { retryQuarantined } = await import('../../replica/quarantine.ts');
    return retryQuarantined(store, { ...request, beside: true });
  },
});

/** The lines with the addresses of the surfaces. */
export function surfaceLines(service: Service, settings: ServeSettings, config: ConfigFile): string[] {
  const roots = addressesOf(service);
  const listens = (name: SurfaceName): string =>
    roots.listens[name] === service.addresses[name] ? '' : `  (listens on ${roots.listens[name]})`;
  // A browser cannot send a token by itself, so browsers are directed to the console, which asks for one, and to the landing page
  // of the interfaces.
  const lines = [
    ...SURFACES.map((name) => `${name.padEnd(12)} ${Object.values(roots[name]).join('  ')}${listens(name)}`),
    `console      ${roots.console}  (log in with the token of an admin key)`,
    `In a browser: ${service.addresses.api}/`,
  ];
  const links = linkLinesOf(service, settings, config);
  return links.length === 0 ? lines : [...lines, '', ...links];
}

/** Explains how links in responses begin, if this is not configured. */
function linkLinesOf({ addresses }: Service, settings: ServeSettings, { hosts }: ConfigFile): string[] {
  const { host, trustProxy = false, publicUrl, tlsCert } = settings;
  const configured = { ...parsePublicUrls(publicUrl), ...hosts };
  const other = PUBLIC_SURFACES.find((name) => configured[name] === undefined);
  if (other === undefined || trustProxy) return [];
  return linkLines({
    address: addresses[other],
    anyHost: isAnyHost(host),
    certificate: tlsCert === undefined ? undefined : readPem(tlsCert),
    interfaces: networkInterfaces(),
  });
}

function listenOptions(settings: ServeSettings, config: ConfigFile): ListenOptions {
  const { host, adminHost, tlsCert, tlsKey } = settings;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw usageError('--tls-cert and --tls-key must be given together.');
  }
  const names = Object.values(config.hosts ?? {}).map((name) => name.toLowerCase());
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) {
    throw usageError(
      `"hosts" of plat.config.json has ${twice} twice, but surfaces differ by their host names.`,
    );
  }
  return {
    host,
    adminHost,
    ports: {
      api: settings.apiPort,
      replication: settings.replicationPort,
      floorplans: settings.floorplansPort,
      admin: settings.adminPort,
    },
    tls:
      tlsCert === undefined || tlsKey === undefined
        ? undefined
        : { cert: readPem(tlsCert), key: readPem(tlsKey) },
    hosts: config.hosts,
  };
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw usageError(`${file} cannot be read.`, { cause });
  }
}

function parsePublicUrls(given: ServeSettings['publicUrl']): ServiceOptions['publicUrls'] {
  if (given === undefined) return {};
  const pairs =
    typeof given === 'string'
      ? given.split(',').map((part) => part.split(/=(.*)/s, 2))
      : Object.entries(given);
  const urls: Partial<Record<SurfaceName, string>> = {};
  for (const [name = '', url] of pairs) {
    const surface = SURFACES.find((known) => known === name);
    if (surface === undefined || urls[surface] !== undefined || url === undefined || !isBase(url)) {
      throw usageError(
        `--public-url takes api=URL,replication=URL,floorplans=URL,admin=URL, not ${url === undefined ? name : `${name}=${url}`}.`,
      );
    }
    urls[surface] = url.replace(/\/+$/, '');
  }
  return urls;
}

/** Whether links can begin with a URL. */
function isBase(url: string): boolean {
  const { protocol, username, password } = URL.parse(url) ?? { protocol: '', username: '', password: '' };
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(url);
}

export function defineServe(serve: Command): void {
  addServeOptions(serve.addOption(STORE_OPTION())).action(async (_options, command: Command) => {
    const config = await applyConfig(command);
    const settings: ServeSettings & { store: string } = command.opts();
    const shutdown = onShutdown(true);
    await withServedStore(settings.store, { config, shutdown }, async (store) => {
      const service = await serveStore(store, settings, config);
      print(addressesOf(service), surfaceLines(service, settings, config), settings.json);
      await shutdown.asked;
      await service.close();
    });
  });
}

/**
 * Milliseconds that closing waits for work that the store has begun by itself, such as the updates of a new day. After that, the
 * work is rolled back, and another process does it.
 */
const CLOSING = 250;

/** Opens a store for a service, and closes it afterwards within the grace period of a signal. */
export async function withServedStore(
  text: string,
  { config, shutdown, allowClockJump }: ServedStore,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await shutdown.starting(() =>
    openConfigured(text, { create: false, threads: true, config, allowClockJump }),
  );
  try {
    await work(store);
  } finally {
    await store.close(CLOSING);
  }
}

interface ServedStore {
  readonly config: ConfigFile;
  readonly shutdown: Shutdown;
  readonly allowClockJump?: boolean | undefined;
}
