/** Starts and stops the service: its listeners, and what they share. It must not know how a request is answered. */
import { createSecureContext } from 'node:tls';
import { PlatError, platError } from '../errors/index.ts';
import { addUses, cachesInUse } from '../shared/bounded-cache.ts';
import { codeOf } from '../shared/error-code.ts';
import { within } from '../shared/within.ts';
import type { Store } from '../store/store.ts';
import { Budgets, RequestQueue } from './access/budget.ts';
import { Connections } from './access/connections.ts';
import { RateLimiter, SharedLimiter } from './access/rate-limits.ts';
import { Standings } from './access/standings.ts';
import { UsageRecorder } from './access/usage.ts';
import { Views } from './access/views.ts';
import { problemsOf, type ReadinessCheck } from './admin/readiness.ts';
import { History } from './console/history.ts';
import { HistoryKeeper } from './console/history-keeper.ts';
import { Live } from './console/live.ts';
import { LogIn } from './console/log-in.ts';
import { lastingOf, replicationAt } from './console/replication.ts';
import { Walks } from './console/walks.ts';
import { EventStreams } from './events/event-streams.ts';
import type { ServiceContext } from './exchange.ts';
import { type Listener, reachedAddress } from './http/base-address.ts';
import { type Dispatch, makeListener } from './http/listener.ts';
import { KeptBlocks } from './kept/kept-blocks.ts';
import { KeptFile } from './kept/kept-file.ts';
import { KeptReplies } from './kept/kept-replies.ts';
import { TextFile } from './kept/text-file.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import type { ServiceOptions } from './options.ts';
import { FilterIndexCache } from './paging/filter-index.ts';
import { LoggedDamages } from './reply/errors.ts';
import { Pace } from './reply/pace.ts';
import { PromisedDate } from './reply/promised-date.ts';
import type { Responder } from './responder.ts';
import { PUBLIC_SURFACES, type SurfaceName } from './surface.ts';

/** Where the surfaces listen. With port 0, the system chooses a free port. */
export interface ListenOptions {
  readonly host: string;
  readonly adminHost: string;
  readonly ports: Readonly<Record<SurfaceName, number>>;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /**
   * Host names that distinguish the surfaces that share the listener of `api`; `api` itself must be among them. A public surface
   * that is not listed keeps its own listener. Absent: every surface has its own.
   */
  readonly hosts?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** How long requests in progress may run on after the service starts to close, in milliseconds. */
  readonly closingPatience?: number;
}

export interface Service {
  /** The addresses of the surfaces as clients reach them, without a trailing slash. */
  readonly addresses: Readonly<Record<SurfaceName, string>>;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

// All in milliseconds. How long requests in progress may take when the service closes, and how often it then closes connections
// that have become idle:
const CLOSING_PATIENCE = 8000;
const CLOSING_INTERVAL = 50;
/** Additional time to record usage after all requests have ended. */
const LAST_NOTES = 1000;
/** The shortest interval between two log entries about too many connections. */
const LOG_EVERY = 60_000;
/** How often expired lists are removed. */
const SWEEP_EVERY = 60_000;

/** Starts the service, with a listener for each surface, or one that the public surfaces share. */
export async function startService(
  options: ServiceOptions,
  listen: ListenOptions,
  readiness: readonly ReadinessCheck[] = [],
): Promise<Service> {
  const { store, clock, log, filterIndex } = options;
  const { tls } = listen;
  const plans = planListeners(listen);
  if (tls !== undefined) checkTls(tls);
  const metrics = makeMetrics();
  const history = new History(clock.now());
  const closing = new AbortController();
  const walks = new Walks();
  const live = new Live(
    async () => ({
      at: clock.now(),
      problems: await problemsOf({ store, readiness }),
      surfaces: history.present(clock.now()),
    }),
    {
      replication: {
        whole: () => replicationAt({ walks, replica: options.replica }, clock.now()),
        lasting: lastingOf,
      },
    },
  );
  const indexes = new FilterIndexCache(
    { milliseconds: filterIndex.minutes * 60_000, bytes: filterIndex.megabytes * 1024 * 1024 },
    clock,
    store.shared,
  );
  const limiter = store.shared === undefined ? new RateLimiter() : new SharedLimiter(store.shared);
  const queue = new RequestQueue();
  const budgets = new Budgets(options.budget, {
    now: () => performance.now(),
    refused: metrics.counter(
      'plat_budget_refusals_total',
      'Requests that were refused because their key had exceeded its budget',
      'why',
    ),
  });
  const pace = new Pace(options.pace, () => performance.now());
  const cut = metrics.counter(
    'plat_clients_cut_total',
    'Clients that were disconnected because they read their responses too slowly',
    'surface',
  );
  const connections = connectionsOf(options, metrics);
  // Operators have connections of their own, so that load on the public surfaces cannot lock them out.
  const ofOperators = new Connections(options.connections, () => undefined);
  const streams = { open: 0 };
  const isReady = async (): Promise<number> =>
    Number(Object.keys(await problemsOf({ store, readiness })).length === 0);
  const { gauge } = metrics;
  gauge('plat_requests_waiting', 'Requests that wait in the queue of their key', () => queue.waiting);
  gauge('plat_requests_running', 'Requests in progress', () => budgets.requests);
  gauge('plat_event_streams', 'Open streams of events', () => streams.open);
  gauge(
    'plat_answer_bytes_waiting',
    'Bytes of responses that clients have not read yet',
    () => budgets.bytes,
  );
  gauge('plat_filter_index_bytes', 'Memory of the filter-index cache', () => indexes.bytes);
  gauge('plat_filter_indexes', 'Filters in the filter-index cache', () => indexes.size);
  gauge(
    'plat_visibility_overdue',
    'Whether the stored visibility is outdated: computed for an earlier day',
    () => Number(store.overdue?.() !== undefined),
  );
  gauge('plat_ready', 'Whether the service is ready, as /ready reports', isReady);
  metrics.gauges('plat_webhooks', 'Webhooks by the state of their deliveries', 'state', () =>
    Object.entries(options.webhooks?.states() ?? {}),
  );
  addCacheGauges(metrics, store);
  addReadStoreGauges(metrics, store);
  const listening = new Map<SurfaceName, Listener>();
  const addressOf = (surface: SurfaceName, arrival?: string): string => {
    const listener = listening.get(surface);
    return options.publicUrls[surface] ?? (listener === undefined ? '' : reachedAddress(listener, arrival));
  };
  const read = { milliseconds: options.querySeconds * 1000 };
  const files = keptFiles(options);
  const kept = new KeptBlocks(store, options.keptPages.megabytes * MEGABYTE, files);
  const context: ServiceContext = {
    store,
    clock,
    indexes,
    kept,
    read,
    fileHours: options.fileHours,
    addressOf,
  };
  const keptCount = metrics.counter('plat_kept_answers_total', 'Responses that came from a cache', 'of');
  const usage = new UsageRecorder(store.keys, log, store.shared);
  const days = new HistoryKeeper(history, { store: store.history, clock, log });
  const responder: Responder = {
    options,
    context,
    date: new PromisedDate(store, clock),
    files: { store, files: options.files },
    admin: {
      ...{ store, metrics, usage, readiness, addressOf, history, days, live, clock },
      walks,
      replica: options.replica,
      webhooks: options.webhooks,
      logIn: new LogIn(store),
      limits: options.limits,
      outlines: options.outlines,
    },
    limiter,
    queue,
    usage,
    views: new Views(options.lookups),
    streams: eventStreams(options, metrics),
    standings: new Standings(store, options.events.trust),
    replies: new KeptReplies(context, keptCount, files.texts),
    damages: new LoggedDamages(),
    log,
  };
  const secure = tls !== undefined;
  const listeners = plans.map((plan) => ({
    ...plan,
    server: makeListener({
      responder,
      metrics,
      budgets,
      pace,
      cut,
      streams,
      closing: closing.signal,
      dispatch: plan.dispatch,
      connections: plan.surfaces.includes('admin') ? ofOperators : connections,
      where: (surface) => listening.get(surface) ?? { host: plan.host, port: plan.port, secure },
      ...(tls === undefined ? {} : { tls }),
    }),
  }));
  let logged: string | undefined;
  const logOverdue = (): void => {
    const late = store.overdue?.();
    if (late !== undefined && late.day !== logged) {
      log.warn(
        { err: late.error, day: late.day },
        'the stored visibility could not be updated to the new day',
      );
    }
    logged = late?.day;
  };
  const sweeping = setInterval(() => {
    logOverdue();
    indexes.sweep().catch((error: unknown) => log.warn({ err: error }, 'expired lists could not be removed'));
  }, SWEEP_EVERY).unref();
  const close = async (): Promise<void> => {
    closing.abort();
    const patience = listen.closingPatience ?? CLOSING_PATIENCE;
    const end = performance.now() + patience + LAST_NOTES;
    const idle = setInterval(() => {
      for (const each of [connections, ofOperators]) each.closeIdle();
    }, CLOSING_INTERVAL);
    await Promise.all(listeners.map(({ server }) => server.close(patience)));
    clearInterval(idle);
    clearInterval(sweeping);
    pace.close();
    responder.streams.close();
    indexes.close();
    kept.close();
    // Another process may hold the write lock of the store for longer than this one can wait.
    const noted = Promise.all([usage.close(), days.close(), limiter.close()]);
    if (!(await within(end - performance.now(), noted))) {
      log.warn('the store did not respond in time: the usage of the last minute may not be recorded');
    }
  };
  try {
    for (const { server, surfaces, port, host } of listeners) {
      const actual = await server.listen(host, port);
      for (const surface of surfaces) {
        listening.set(surface, { host, port: actual, secure, name: listen.hosts?.[surface] });
      }
    }
  } catch (error) {
    await close();
    throw listenError(error);
  }
  const addresses = {
    api: addressOf('api'),
    replication: addressOf('replication'),
    floorplans: addressOf('floorplans'),
    admin: addressOf('admin'),
  };
  return { addresses, metrics, close };
}

/** The files of the caches. Problems with them are logged, because clients do not notice them. */
function keptFiles({ log, keptPages: { megabytes, file } }: ServiceOptions): {
  readonly file?: KeptFile;
  readonly texts?: TextFile;
} {
  const warn = (message: string, err: unknown): void => log.warn({ err }, message);
  if (file === undefined) return {};
  const place = { bytes: file.megabytes * MEGABYTE, warn, now: () => performance.now() };
  const compressed = new KeptFile({ ...file, ...place });
  const texts = new TextFile({
    ...place,
    path: `${file.path}-text`,
    taken: () => compressed.bytesInUse,
  });
  return { file: compressed, ...(megabytes > 0 ? { texts } : {}) };
}

/** The open event streams of the store, and their metrics. */
function eventStreams({ store, log, streams }: ServiceOptions, metrics: Metrics): EventStreams {
  const count = metrics.counter('plat_events_total', 'Changes that were sent on streams of events', 'of');
  const lag = metrics.histogram('plat_event_lag_seconds', 'Time from a commit to its events');
  return new EventStreams(store, {
    perKey: streams.perKey,
    metrics: {
      sent: (number) => count('changes', number),
      lag,
      failed(error) {
        // An error below 500 concerns only the client.
        if (error instanceof PlatError && error.status < 500) return;
        log.warn({ err: error }, 'a stream of events has ended: its client will reconnect');
      },
      unannounced: (error) =>
        log.warn({ err: error }, 'the store does not announce commits at the moment: polling for them'),
    },
  });
}

const MEGABYTE = 1024 * 1024;

/**
 * The connections of the public surfaces. When some were closed because there were too many, the log reports it at most once a
 * minute.
 */
function connectionsOf({ connections: limits, log }: ServiceOptions, metrics: Metrics): Connections {
  const closed = metrics.counter(
    'plat_connections_closed_total',
    'Connections that were closed or refused because there were too many',
    'bound',
  );
  let logged = Number.NEGATIVE_INFINITY;
  const connections = new Connections(limits, (bound) => {
    closed(bound);
    const now = performance.now();
    if (now - logged < LOG_EVERY) return;
    logged = now;
    const facts = { bound, connections: connections.size };
    log.warn(facts, 'too many connections: closing idle ones');
  });
  metrics.gauges('plat_connections', 'Open connections of the public surfaces', 'of', () => [
    ['strangers', connections.strangers],
    ['keys', connections.size - connections.strangers],
  ]);
  return connections;
}

/** The caches of this thread and of the threads that read the store. */
function addCacheGauges(metrics: Metrics, store: Store): void {
  const uses = () => addUses([...cachesInUse(), ...(store.caches?.() ?? [])]);
  const read = (what: 'bytes' | 'entries') => () => uses().map((use) => [use.name, use[what]] as const);
  metrics.gauges('plat_cache_bytes', 'Memory of each cache', 'cache', read('bytes'));
  metrics.gauges('plat_cache_entries', 'Entries of each cache', 'cache', read('entries'));
}

/** Metrics of the standbys that serve reads, if there are any. */
export function addReadStoreGauges(metrics: Metrics, store: Pick<Store, 'readStores'>): void {
  const states = () => store.readStores?.() ?? [];
  if (states().length === 0) return;
  const used = (): number => states().filter((each) => each.used).length;
  const reads = (): number => states().reduce((sum, each) => sum + each.reads, 0);
  metrics.gauge('plat_read_stores_used', 'Read stores that can be reached and are up to date', used);
  metrics.gauge('plat_read_store_reads', 'Reads served by read stores', reads);
}

interface PlannedListener {
  readonly surfaces: readonly SurfaceName[];
  readonly host: string;
  readonly port: number;
  readonly dispatch: Dispatch;
}

function planListeners({ host, adminHost, ports, hosts = {} }: ListenOptions): PlannedListener[] {
  const own = (name: SurfaceName, at: string): PlannedListener => {
    return { surfaces: [name], host: at, port: ports[name], dispatch: () => name };
  };
  const named = PUBLIC_SURFACES.filter((name) => hosts[name] !== undefined);
  if (named.length > 0 && hosts.api === undefined) {
    throw platError('usage', {
      reason: 'hosts distinguishes surfaces on the port of api, so it must include api.',
    });
  }
  const byHost = new Map(named.map((name) => [(hosts[name] ?? '').toLowerCase(), name]));
  const shared: PlannedListener = {
    surfaces: named,
    host,
    port: ports.api,
    dispatch: (given) => byHost.get((given ?? '').replace(/:\d*$/, '').toLowerCase()),
  };
  return [
    ...(named.length > 0 ? [shared] : []),
    ...PUBLIC_SURFACES.filter((name) => hosts[name] === undefined).map((name) => own(name, host)),
    own('admin', adminHost),
  ];
}

/** @throws PlatError `usage` */
function checkTls(tls: NonNullable<ListenOptions['tls']>): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = 'The TLS certificate and key cannot be used: they are not in PEM format, or do not match.';
    throw platError('usage', { reason }, { cause });
  }
}

function listenError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const port = 'port' in error ? String(error.port) : '';
  const reason = REASONS[codeOf(error) ?? ''];
  return reason === undefined ? error : platError('failed', { reason: reason(port) }, { cause: error });
}

const REASONS: Readonly<Record<string, (port: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is in use. Choose another, or 0 for any free one.`,
  EACCES: (port) => `Port ${port} may not be used by this user.`,
  EADDRNOTAVAIL: () => 'The host to listen on is not an address of this machine.',
  ENOTFOUND: () => 'The host to listen on is not known.',
};
