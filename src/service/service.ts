import { createSecureContext } from 'node:tls';
import { platError } from '../errors/index.ts';
import { addUses, cachesInUse } from '../shared/bounded-cache.ts';
import type { Store } from '../store/store.ts';
import { Budgets, MainThread } from './access/budget.ts';
import { Connections } from './access/connections.ts';
import { RateLimiter, SharedLimiter } from './access/rate-limits.ts';
import { UsageRecorder } from './access/usage.ts';
import { Views } from './access/views.ts';
import { problemsOf, type ReadinessCheck } from './admin/router.ts';
import type { ServiceContext } from './exchange.ts';
import { type Listener, reachedAddress } from './http/base-address.ts';
import { type Dispatch, makeListener } from './http/listener.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import type { ServiceOptions } from './options.ts';
import { FilterIndexCache } from './paging/filter-index.ts';
import { LoggedDamages } from './reply/errors.ts';
import { Pace } from './reply/pace.ts';
import { ToldMoment } from './reply/promised-date.ts';
import type { Responder } from './respond.ts';
import { PUBLIC_SURFACES, type SurfaceName } from './surface.ts';

/** Where the surfaces listen. A port of 0 is any free one. */
export interface ListenOptions {
  readonly host: string;
  readonly adminHost: string;
  readonly ports: Readonly<Record<SurfaceName, number>>;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /**
   * Host names by which the listener of `api` tells surfaces apart, itself among them; a public surface that is not
   * named keeps its own listener. Absent: each has its own.
   */
  readonly hosts?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** How long open requests may take to end when the service closes, in milliseconds. */
  readonly closingPatience?: number;
}

/** A service that listens. */
export interface Service {
  /** Addresses as clients reach them, without a slash at the end. */
  readonly addresses: Readonly<Record<SurfaceName, string>>;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

const CLOSING_PATIENCE = 8000;
/** How often connections that have become idle are looked for meanwhile. */
const CLOSING_INTERVAL = 50;
/** How often it is logged that there are too many connections, in milliseconds. */
const LOG_EVERY = 60_000;
/** How often what has expired is forgotten, in milliseconds. */
const SWEEP_EVERY = 60_000;

/** Starts the service: every surface on its own listener, or the public ones on one. */
export async function startService(
  options: ServiceOptions,
  listen: ListenOptions,
  readiness: readonly ReadinessCheck[] = [],
): Promise<Service> {
  const { store, clock, log } = options;
  const plans = planListeners(listen);
  if (listen.tls !== undefined) checkTls(listen.tls);
  const metrics = makeMetrics();
  const minutes = options.filterIndex.minutes;
  const indexes = new FilterIndexCache(
    { milliseconds: minutes * 60_000, bytes: options.filterIndex.megabytes * 1024 * 1024 },
    clock,
    store.shared,
  );
  const limiter = store.shared === undefined ? new RateLimiter() : new SharedLimiter(store.shared);
  const { budget, pace: limits } = options;
  const mainThread = new MainThread();
  metrics.gauge(
    'plat_requests_waiting',
    'Requests that wait for a turn of their key',
    () => mainThread.waiting,
  );
  const budgets = new Budgets(budget, {
    now: () => performance.now(),
    refused: metrics.counter('plat_budget_refusals_total', 'Requests of keys beyond their budget', 'why'),
  });
  const pace = new Pace(limits, () => performance.now());
  const cut = metrics.counter('plat_clients_cut_total', 'Clients that took answers too slowly', 'surface');
  const connections = connectionsOf(options, metrics);
  // Nothing that is public keeps the operator from looking.
  const ofOperators = new Connections(options.connections, () => undefined);
  metrics.gauge('plat_answer_bytes_waiting', 'Answers that clients have not taken yet', () => budgets.bytes);
  metrics.gauge('plat_filter_index_bytes', 'Memory of the filter-index cache', () => indexes.bytes);
  metrics.gauge('plat_requests_running', 'Requests that are not answered yet', () => budgets.requests);
  addCacheGauges(metrics, store);
  const overdue = (): number => Number(store.overdue?.() !== undefined);
  metrics.gauge('plat_visibility_overdue', 'Whether the stored visibility is of a day before', overdue);
  const isReady = async (): Promise<number> =>
    Number(Object.keys(await problemsOf({ store, readiness })).length === 0);
  metrics.gauge('plat_ready', 'Whether /ready says that the service is ready', isReady);
  metrics.gauge('plat_filter_indexes', 'Filters whose results are kept', () => indexes.size);
  addReadStoreGauges(metrics, store);
  const places = new Map<SurfaceName, Listener>();
  const addressOf = (surface: SurfaceName, arrival?: string): string => {
    const place = places.get(surface);
    return options.publicUrls[surface] ?? (place === undefined ? '' : reachedAddress(place, arrival));
  };
  const context: ServiceContext = {
    store,
    clock,
    indexes,
    read: { milliseconds: options.querySeconds * 1000 },
    fileHours: options.fileHours,
    addressOf,
  };
  const usage = new UsageRecorder(store.keys, log, store.shared);
  const responder: Responder = {
    options,
    context,
    told: new ToldMoment(store, clock),
    files: { store, files: options.files },
    admin: { store, metrics, usage, readiness },
    limiter,
    mainThread,
    usage,
    views: new Views(options.lookups),
    damages: new LoggedDamages(),
    log,
  };
  const listeners = plans.map((plan) => {
    const { tls } = listen;
    const secure = tls !== undefined;
    const server = makeListener({
      responder,
      metrics,
      budgets,
      pace,
      cut,
      dispatch: plan.dispatch,
      connections: plan.surfaces.includes('admin') ? ofOperators : connections,
      where: (surface) => places.get(surface) ?? { host: plan.host, port: plan.port, secure },
      ...(tls === undefined ? {} : { tls }),
    });
    return { ...plan, server, secure };
  });
  let told: string | undefined;
  const tellOverdue = (): void => {
    const late = store.overdue?.();
    if (late !== undefined && late.day !== told) {
      log.warn({ err: late.error, day: late.day }, 'the stored visibility could not be brought to the day');
    }
    told = late?.day;
  };
  const sweeping = setInterval(() => {
    tellOverdue();
    indexes.sweep().catch((error: unknown) => log.warn({ err: error }, 'expired lists could not be swept'));
  }, SWEEP_EVERY).unref();
  const patience = listen.closingPatience ?? CLOSING_PATIENCE;
  const close = async (): Promise<void> => {
    const idle = setInterval(() => {
      for (const each of [connections, ofOperators]) each.closeIdle();
    }, CLOSING_INTERVAL);
    await Promise.all(listeners.map(({ server }) => server.close(patience)));
    clearInterval(idle);
    clearInterval(sweeping);
    pace.close();
    indexes.close();
    await Promise.all([usage.close(), limiter.close()]);
  };
  try {
    for (const { server, surfaces, port, host, secure } of listeners) {
      const actual = await server.listen(host, port);
      for (const surface of surfaces) {
        places.set(surface, { host, port: actual, secure, name: listen.hosts?.[surface] });
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

/** The connections of the public surfaces. That some were closed is logged, but not once for each of a crowd. */
function connectionsOf({ connections: limits, log }: ServiceOptions, metrics: Metrics): Connections {
  const closed = metrics.counter(
    'plat_connections_closed_total',
    'Connections that were closed or not taken, since there were too many',
    'bound',
  );
  let logged = Number.NEGATIVE_INFINITY;
  const connections = new Connections(limits, (bound) => {
    closed(bound);
    const now = performance.now();
    if (now - logged < LOG_EVERY) return;
    logged = now;
    log.warn(
      { bound, connections: connections.size },
      'there are too many connections: idle ones are closed',
    );
  });
  metrics.gauges('plat_connections', 'Open connections of the public surfaces', 'of', () => [
    ['strangers', connections.strangers],
    ['keys', connections.size - connections.strangers],
  ]);
  return connections;
}

/** What is kept to be quick, by the thread of this service and by those that read the store. */
function addCacheGauges(metrics: Metrics, store: Store): void {
  const uses = () => addUses([...cachesInUse(), ...(store.caches?.() ?? [])]);
  const read = (what: 'bytes' | 'entries') => () => uses().map((use) => [use.name, use[what]] as const);
  metrics.gauges('plat_cache_bytes', 'Memory of each cache', 'cache', read('bytes'));
  metrics.gauges('plat_cache_entries', 'Entries of each cache', 'cache', read('entries'));
}

/** What the standbys do that are read from, where there are some. */
export function addReadStoreGauges(metrics: Metrics, store: Pick<Store, 'readStores'>): void {
  const states = () => store.readStores?.() ?? [];
  if (states().length === 0) return;
  const used = (): number => states().filter((each) => each.used).length;
  const reads = (): number => states().reduce((sum, each) => sum + each.reads, 0);
  metrics.gauge('plat_read_stores_used', 'Read stores that are reached and keep up', used);
  metrics.gauge('plat_read_store_reads', 'Reads that read stores have answered', reads);
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
      reason: 'hosts tells surfaces apart on the port of api, so it must name api.',
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
    const reason = 'The TLS certificate and key cannot be used: they are no PEM, or do not belong together.';
    throw platError('usage', { reason }, { cause });
  }
}

function listenError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const port = 'port' in error ? String(error.port) : '';
  const reason = REASONS[String(error.code)];
  return reason === undefined ? error : platError('failed', { reason: reason(port) }, { cause: error });
}

const REASONS: Readonly<Record<string, (port: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is in use. Choose another, or 0 for any free one.`,
  EACCES: (port) => `Port ${port} may not be used by this user.`,
  EADDRNOTAVAIL: () => 'The host to listen on is no address of this machine.',
  ENOTFOUND: () => 'The host to listen on is not known.',
};
