/** The admin port of a watch: health checks and metrics, also while its store is unreachable. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { usageError } from '../errors/index.ts';
import type { ReplicaEvent } from '../replica/events.ts';
import { CHANGE_METHODS } from '../replica/source/source.ts';
import { type SourceStatus, sourceStatus } from '../replica/status.ts';
import { inTime, type Problems, serveProbes, unresponsive } from '../service/admin/probes.ts';
import { messageOf } from '../shared/error-code.ts';
import type { Store } from '../store/store.ts';
import { reportLines } from './terminal.ts';

export interface ReplicaAdmin {
  readonly address: string;
  /** Reports why the store could not be opened yet, or could not be created because of its source. */
  reportWaiting(reason: string, isOfSource: boolean): void;
  reportOpened(store: Store): void;
  count(event: ReplicaEvent): void;
  close(): Promise<void>;
}

/**
 * Serves `/live`, `/ready` and `/metrics`, even before the store is open. A replica is ready if its last update and its last
 * purge are recent.
 * @throws PlatError `usage` if the port is in use
 */
export async function serveReplicaAdmin(
  source: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<ReplicaAdmin> {
  const { registry, count, refresh } = replicaMetrics();
  let store: Store | undefined;
  let waitsFor: Problems = { store: 'it is being opened' };
  const look = inTime<Look>(
    async () => (store === undefined ? { problems: waitsFor } : lookAt(store, source)),
    () => ({ problems: unresponsive(store) }),
  );
  const problems = async (): Promise<Problems> => (await look()).problems;
  const text = async (): Promise<string> => {
    const seen = await look();
    refresh(Object.keys(seen.problems).length === 0, seen.status);
    return registry.metrics();
  };
  try {
    const metrics = { contentType: registry.contentType, text };
    const { address, close } = await serveProbes({ metrics, problems }, { host, port });
    reportLines(`admin        ${address}/`);
    return {
      address,
      reportWaiting: (reason, isOfSource) => {
        waitsFor = { [isOfSource ? source : 'store']: reason };
      },
      reportOpened: (found) => {
        store = found;
      },
      count,
      close,
    };
  } catch (cause) {
    throw usageError(`The admin port ${host}:${port} cannot be opened: ${messageOf(cause)}`, { cause });
  }
}

/** What a probe sees. */
interface Look {
  /** Why the watch is not ready: a lasting failure, an outdated copy, an unreachable store. */
  readonly problems: Problems;
  /** Absent while the store is unreachable: metrics then keep their last values. */
  readonly status?: SourceStatus;
}

async function lookAt(store: Store, source: string): Promise<Look> {
  const trouble = store.trouble?.();
  if (trouble !== undefined) return { problems: { store: trouble } };
  try {
    const status = await sourceStatus(store, source, Date.now());
    const lasting = status.troubles.find((each) => each.lasting);
    const problem = lasting === undefined ? status.stale : `${lasting.step}: ${lasting.reason}`;
    return { problems: problem === undefined ? {} : { [source]: problem }, status };
  } catch (error) {
    return { problems: { [source]: messageOf(error) } };
  }
}

function replicaMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  const rows = counter(
    'plat_replica_rows_total',
    'Records and keys received, by collection and step',
    'resource',
    'step',
  );
  const deleted = counter(
    'plat_replica_deleted_total',
    'Records that were deleted because the source no longer has them',
    'resource',
  );
  const retries = counter('plat_replica_retries_total', 'Requests that failed');
  const failures = counter('plat_replica_failures_total', 'Steps that failed and were postponed');
  const lag = gauge(
    'plat_replica_lag_seconds',
    'Age of the moment up to which a copy is complete',
    'resource',
  );
  const following = gauge(
    'plat_replica_following',
    'How the replica learns of changes: 1 for the method in use',
    'way',
  );
  const changes = counter(
    'plat_replica_changes_total',
    'Records that were stored or deleted because the source reported their change',
    'resource',
  );
  const stored = gauge('plat_replica_records', 'Records stored from the source', 'resource');
  const quarantined = gauge('plat_replica_quarantined', 'Records that could not be stored');
  const ready = gauge('plat_ready', 'Whether /ready reports that the watch is ready');
  const refresh = (isReady: boolean, status: SourceStatus | undefined): void => {
    ready.set(Number(isReady));
    if (status === undefined) return;
    quarantined.set(status.quarantined);
    const used = status.following?.way ?? 'windows';
    for (const way of [...CHANGE_METHODS, 'windows'] as const) following.set({ way }, Number(way === used));
    for (const each of status.collections) {
      stored.set({ resource: each.collection }, each.stored);
      if (each.lag !== undefined) lag.set({ resource: each.collection }, each.lag / 1000);
    }
  };
  const count = (event: ReplicaEvent): void => {
    if (event.kind === 'page') rows.inc({ resource: event.resource, step: event.step }, event.rows);
    else if (event.kind === 'changes') {
      changes.inc({ resource: event.resource }, event.rows + event.deleted);
    } else if (event.kind === 'deleted') deleted.inc({ resource: event.resource }, event.keys.length);
    else if (event.kind === 'retry') retries.inc();
    else if (event.kind === 'failed') failures.inc();
  };
  return { registry, count, refresh };
}
