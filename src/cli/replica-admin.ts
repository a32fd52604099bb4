import { fastify } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { platError } from '../errors/index.ts';
import type { ReplicaEvent } from '../replica/events.ts';
import { type SourceStatus, sourceStatus } from '../replica/status.ts';
import type { Store } from '../store/store.ts';
import { reportLines } from './terminal.ts';

/** Probes and metrics of a replication that watches. */
export interface ReplicaAdmin {
  readonly address: string;
  /** The store could not be opened yet; why. */
  waits(reason: string): void;
  /** The store is open now. */
  opened(store: Store): void;
  count(event: ReplicaEvent): void;
  close(): Promise<void>;
}

/**
 * `/live`, `/ready` and `/metrics`, also while the store is still waited for. Ready is a replica whose last update and last
 * purge are fresh.
 * @throws PlatError `usage` when the port is taken
 */
export async function replicaAdmin(
  source: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<ReplicaAdmin> {
  const { registry, count, refresh } = replicaMetrics();
  let store: Store | undefined;
  let waitsFor = 'it is being opened';
  const app = fastify({ logger: false });
  app.get('/live', async () => ({ live: true }));
  app.get('/ready', async (_request, reply) => {
    const trouble = store === undefined ? waitsFor : store.trouble?.();
    if (trouble !== undefined) return reply.code(503).send({ ready: false, problems: { store: trouble } });
    const problem = store === undefined ? undefined : await problemOf(store, source);
    if (problem !== undefined) reply.code(503);
    return problem === undefined ? { ready: true } : { ready: false, problems: { [source]: problem } };
  });
  app.get('/metrics', async (_request, reply) => {
    if (store !== undefined) refresh(await sourceStatus(store, source, Date.now()));
    reply.header('content-type', registry.contentType);
    return registry.metrics();
  });
  try {
    const address = await app.listen({ host, port });
    reportLines(`admin        ${address}/`);
    return {
      address,
      waits: (reason) => {
        waitsFor = reason;
      },
      opened: (found) => {
        store = found;
      },
      count,
      close: () => app.close(),
    };
  } catch (cause) {
    throw platError('usage', { reason: `The admin port ${host}:${port} cannot be opened.` }, { cause });
  }
}

/** Why the watch is not ready: what it cannot do and no waiting mends, what is not fresh, a store that is away. */
async function problemOf(store: Store, source: string): Promise<string | undefined> {
  try {
    const { stale, troubles } = await sourceStatus(store, source, Date.now());
    const trouble = troubles.find(({ lasting }) => lasting);
    return trouble === undefined ? stale : `${trouble.step}: ${trouble.reason}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function replicaMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const rows = new Counter({
    name: 'plat_replica_rows_total',
    help: 'Records and keys that came, by collection and step',
    labelNames: ['resource', 'step'],
    registers,
  });
  const deleted = new Counter({
    name: 'plat_replica_deleted_total',
    help: 'Records that purges deleted',
    labelNames: ['resource'],
    registers,
  });
  const retries = new Counter({
    name: 'plat_replica_retries_total',
    help: 'Requests that failed',
    registers,
  });
  const failures = new Counter({
    name: 'plat_replica_failures_total',
    help: 'Steps that failed and were put off',
    registers,
  });
  const lag = new Gauge({
    name: 'plat_replica_lag_seconds',
    help: 'Age of the moment up to which a copy is complete',
    labelNames: ['resource'],
    registers,
  });
  const stored = new Gauge({
    name: 'plat_replica_records',
    help: 'Records that are stored from the source',
    labelNames: ['resource'],
    registers,
  });
  const quarantined = new Gauge({
    name: 'plat_replica_quarantined',
    help: 'Records that could not be stored',
    registers,
  });
  const refresh = (status: SourceStatus): void => {
    quarantined.set(status.quarantined);
    for (const each of status.collections) {
      stored.set({ resource: each.collection }, each.stored);
      if (each.lag !== undefined) lag.set({ resource: each.collection }, each.lag / 1000);
    }
  };
  const count = (event: ReplicaEvent): void => {
    if (event.kind === 'page') rows.inc({ resource: event.resource, step: event.step }, event.rows);
    else if (event.kind === 'deleted') deleted.inc({ resource: event.resource }, event.keys.length);
    else if (event.kind === 'retry') retries.inc();
    else if (event.kind === 'failed') failures.inc();
  };
  return { registry, count, refresh };
}
