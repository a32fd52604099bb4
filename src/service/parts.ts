/**
 * Creates what all listeners of a service share: limits, caches, metrics, and the data of the operator's pages. It must not know
 * what a listener is.
 */
import { PlatError } from '../errors/index.ts';
import { Budgets, RequestQueue } from './access/budget.ts';
import { Connections } from './access/connections.ts';
import { KeyStatusCache } from './access/key-status-cache.ts';
import { RateLimiter, SharedRateLimiter } from './access/rate-limits.ts';
import { UsageRecorder } from './access/usage.ts';
import { ViewCache } from './access/view-cache.ts';
import { inTime, unresponsive } from './admin/probes.ts';
import { problemsOf, type ReadinessCheck } from './admin/readiness.ts';
import { BlockCache } from './cache/block-cache.ts';
import { BlockCacheFile } from './cache/block-cache-file.ts';
import { ResponseCache } from './cache/response-cache.ts';
import { TextCacheFile } from './cache/text-cache-file.ts';
import { History } from './console/history.ts';
import { HistoryKeeper } from './console/history-keeper.ts';
import { LiveFeed } from './console/live-feed.ts';
import { ConsoleLogin } from './console/log-in.ts';
import { replicationAt, withoutTimeDependent } from './console/replication.ts';
import { Walks } from './console/walks.ts';
import { EventStreams } from './events/event-streams.ts';
import type { ServiceContext } from './exchange.ts';
import { addGauges } from './gauges.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import type { ServiceOptions } from './options.ts';
import { FilterIndexCache } from './paging/filter-index.ts';
import { LoggedDamages } from './reply/errors.ts';
import { PromisedDate } from './reply/promised-date.ts';
import { Pace } from './reply/read-pace.ts';
import type { Responder } from './responder.ts';
import type { SurfaceName } from './surface.ts';

/** What the listeners of a service share. */
export type ServiceParts = ReturnType<typeof makeParts>;

const MEGABYTE = 1024 * 1024;
/** The shortest interval between two log entries about too many connections, in milliseconds. */
const LOG_EVERY = 60_000;

/** @param addressOf the address of a surface as clients reach it; '' while it does not listen */
export function makeParts(
  options: ServiceOptions,
  readiness: readonly ReadinessCheck[],
  addressOf: (surface: SurfaceName, arrival?: string) => string,
) {
  const { store, clock, log, filterIndex, keptPages } = options;
  const now = (): number => performance.now();
  const problems = inTime(
    () => problemsOf({ store, readiness }),
    () => unresponsive(store),
  );
  const metrics = makeMetrics();
  const { counter } = metrics;
  const indexes = new FilterIndexCache(
    { milliseconds: filterIndex.minutes * 60_000, bytes: filterIndex.megabytes * MEGABYTE },
    clock,
    store.shared,
  );
  const files = makeCacheFiles(options);
  const kept = new BlockCache(store, keptPages.megabytes * MEGABYTE, files);
  const context: ServiceContext = {
    ...{ store, clock, indexes, kept, addressOf },
    read: { milliseconds: options.querySeconds * 1000 },
    fileHours: options.fileHours,
  };
  const limiter = store.shared === undefined ? new RateLimiter() : new SharedRateLimiter(store.shared);
  const queue = new RequestQueue();
  const refused = counter(
    'plat_budget_refusals_total',
    'Requests that were refused because their key had exceeded its budget',
    'why',
  );
  const budgets = new Budgets(options.budget, { now, refused });
  const pace = new Pace(options.pace, now);
  const connections = connectionsOf(options, metrics);
  const streams = { open: 0 };
  const isReady = async (): Promise<boolean> => Object.keys(await problems()).length === 0;
  addGauges(metrics, { options, queue, budgets, connections, streams, indexes, isReady });
  const usage = new UsageRecorder(store.keys, log, store.shared);
  const history = new History(clock.now());
  const days = new HistoryKeeper(history, { store: store.history, clock, log });
  const walks = new Walks();
  const live = new LiveFeed(
    async () => ({
      at: clock.now(),
      problems: await problems(),
      surfaces: history.currentMinute(clock.now()),
    }),
    {
      replication: {
        whole: () => replicationAt({ walks, replica: options.replica }, clock.now()),
        lasting: withoutTimeDependent,
      },
    },
  );
  const responder: Responder = {
    ...{ options, context, limiter, queue, usage, log },
    date: new PromisedDate(store, clock),
    files: { store, files: options.files },
    admin: {
      ...{ store, metrics, usage, problems, addressOf, history, days, live, clock, walks },
      replica: options.replica,
      webhooks: options.webhooks,
      logIn: new ConsoleLogin(store),
      limits: options.limits,
      outlines: options.outlines,
    },
    views: new ViewCache(options.lookups),
    streams: makeEventStreams(options, metrics),
    standings: new KeyStatusCache(store, options.events.trust),
    replies: new ResponseCache(
      context,
      counter('plat_kept_answers_total', 'Responses that came from a cache', 'of'),
      files.texts,
    ),
    damages: new LoggedDamages(),
  };
  return {
    ...{ responder, metrics, budgets, pace, connections, streams },
    /** Counts a client that was disconnected because it read its response too slowly. */
    cut: counter(
      'plat_clients_cut_total',
      'Clients that were disconnected because they read their responses too slowly',
      'surface',
    ),
    /** The connections of operators have limits of their own, so that load on the public surfaces cannot lock operators out. */
    ofOperators: new Connections(options.connections, () => undefined),
    /** Removes expired lists. */
    sweep: () => indexes.sweep(),
    close() {
      pace.close();
      responder.streams.close();
      indexes.close();
      kept.close();
    },
    /** Writes the usage of keys and the history of the day, which are otherwise written at intervals. */
    async record() {
      await Promise.all([usage.close(), days.close(), limiter.close()]);
    },
  };
}

/** Creates the files of the caches. Problems with them are logged, because clients do not notice them. */
function makeCacheFiles({ log, keptPages: { megabytes, file } }: ServiceOptions): {
  readonly file?: BlockCacheFile;
  readonly texts?: TextCacheFile;
} {
  const warn = (message: string, err: unknown): void => log.warn({ err }, message);
  if (file === undefined) return {};
  const place = { bytes: file.megabytes * MEGABYTE, warn, now: () => performance.now() };
  const compressed = new BlockCacheFile({ ...file, ...place });
  const texts = new TextCacheFile({
    ...place,
    path: `${file.path}-text`,
    taken: () => compressed.bytesInUse,
  });
  return { file: compressed, ...(megabytes > 0 ? { texts } : {}) };
}

/** Creates the event streams of the store, and their metrics. */
function makeEventStreams({ store, log, streams }: ServiceOptions, metrics: Metrics): EventStreams {
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

/**
 * Creates the connections of the public surfaces. If some are closed because there are too many, this is logged at most once a
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
  return connections;
}
