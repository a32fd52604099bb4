/**
 * The metrics that are read from the parts of the service when an operator requests them: queues, caches, lists, connections and
 * standbys. The parts must not know them.
 */
import { cacheSizes, sumCacheSizes } from '../shared/bounded-cache.ts';
import type { Store } from '../store/store.ts';
import type { Budgets, RequestQueue } from './access/budget.ts';
import type { Connections } from './access/connections.ts';
import type { Metrics } from './metrics.ts';
import type { ServiceOptions } from './options.ts';
import type { FilterIndexCache } from './paging/filter-index.ts';

interface MeasuredParts {
  readonly options: Pick<ServiceOptions, 'store' | 'webhooks'>;
  readonly queue: RequestQueue;
  readonly budgets: Budgets;
  /** The connections of the public surfaces. */
  readonly connections: Connections;
  readonly streams: { readonly open: number };
  readonly indexes: FilterIndexCache;
  readonly isReady: () => Promise<boolean>;
}

/** Adds the gauges of a service to its metrics. */
export function addGauges(metrics: Metrics, parts: MeasuredParts): void {
  const { options, queue, budgets, connections, streams, indexes } = parts;
  const { store, webhooks } = options;
  const { gauge, gauges } = metrics;
  gauge('plat_requests_waiting', 'Requests that wait in the queue of their key', () => queue.waiting);
  gauge('plat_requests_running', 'Requests in progress', () => budgets.requests);
  gauge('plat_event_streams', 'Open streams of events', () => streams.open);
  gauge(
    'plat_answer_bytes_waiting',
    'Bytes of responses that clients have not read yet',
    () => budgets.bytes,
  );
  gauge('plat_filter_index_bytes', 'Memory of the filter-index cache', () => indexes.use.bytes);
  gauge('plat_filter_indexes', 'Filters in the filter-index cache', () => indexes.use.entries);
  gauge(
    'plat_visibility_overdue',
    'Whether the stored visibility is outdated: computed for an earlier day',
    () => Number(store.overdue?.() !== undefined),
  );
  gauge('plat_ready', 'Whether the service is ready, as /ready reports', async () =>
    Number(await parts.isReady()),
  );
  gauges('plat_webhooks', 'Webhooks by the state of their deliveries', 'state', () =>
    Object.entries(webhooks?.states() ?? {}),
  );
  gauges('plat_connections', 'Open connections of the public surfaces', 'of', () => [
    ['strangers', connections.strangers],
    ['keys', connections.size - connections.strangers],
  ]);
  addCacheGauges(metrics, store);
  addReadStoreGauges(metrics, store);
}

/** Adds the sizes of the caches of this thread and of the threads that read the store. */
function addCacheGauges(metrics: Metrics, store: Store): void {
  const uses = () => sumCacheSizes([...cacheSizes(), ...(store.caches?.() ?? [])]);
  const read = (what: 'bytes' | 'entries') => () => uses().map((use) => [use.name, use[what]] as const);
  metrics.gauges('plat_cache_bytes', 'Memory of each cache', 'cache', read('bytes'));
  metrics.gauges('plat_cache_entries', 'Entries of each cache', 'cache', read('entries'));
}

/** Adds the metrics of the standbys that serve reads, if there are any. */
export function addReadStoreGauges(metrics: Metrics, store: Pick<Store, 'readStores'>): void {
  const states = () => store.readStores?.() ?? [];
  if (states().length === 0) return;
  const used = (): number => states().filter((each) => each.used).length;
  const reads = (): number => states().reduce((sum, each) => sum + each.reads, 0);
  metrics.gauge('plat_read_stores_used', 'Read stores that can be reached and are up to date', used);
  metrics.gauge('plat_read_store_reads', 'Reads served by read stores', reads);
}
