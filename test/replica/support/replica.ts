/** A replica under test, with short functions that fill it from a source and read the result. */

import type { ReplicaEvent } from '../../../src/replica/events.ts';
import { networkTransport, type Transport } from '../../../src/replica/http/transport.ts';
import { type Retried, retryQuarantined } from '../../../src/replica/quarantine.ts';
import type { ReplicateOptions } from '../../../src/replica/run/options.ts';
import { type ReplicateResult, replicate } from '../../../src/replica/run/replicate.ts';
import { type SourceStatus, sourceStatus } from '../../../src/replica/status.ts';
import type { Verified } from '../../../src/replica/verify/results.ts';
import type { VerifyOptions } from '../../../src/replica/verify/verify.ts';
import { verifyReplica } from '../../../src/replica/verify/verify.ts';
import type { TestClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld, type World } from '../../support/world.ts';
import { virtualTime } from './virtual-clock.ts';

export type RunOptions = Partial<Omit<ReplicateOptions, 'environment'>>;

export interface TestReplica extends World {
  /** All events that the consumer reported, in order. */
  readonly events: ReplicaEvent[];
  /** Events of one kind, without their kind. */
  reported<K extends ReplicaEvent['kind']>(kind: K): Omit<Extract<ReplicaEvent, { kind: K }>, 'kind'>[];
  /** Every sleep of the consumer, in milliseconds. */
  readonly slept: readonly number[];
  replicate(options?: RunOptions): Promise<ReplicateResult>;
  verify(options?: RunOptions & VerifyOptions): Promise<readonly Verified[]>;
  /** Retries the quarantined records with requests to the source. */
  retry(): Promise<Retried>;
  status(): Promise<SourceStatus>;
  /** The quarantine: resource, key and reason. */
  quarantine(): Promise<[string, string, string][]>;
}

export interface ReplicaOptions {
  readonly from: string;
  readonly interface: 'reso' | 'native';
  readonly token?: string;
  readonly clock: TestClock;
  readonly agentsFrom?: 'records' | 'payload';
  /** Wraps the network that the consumer uses. */
  readonly between?: (transport: Transport) => Transport;
  readonly resources?: readonly string[];
  /** The engine of the replica; absent: SQLite. */
  readonly engine?: Engine;
}

export const SOURCE = 'feed';

export async function makeReplica(scope: Scope, options: ReplicaOptions): Promise<TestReplica> {
  const { clock, from, token = 'secret', agentsFrom = 'records', between = (same) => same } = options;
  const world = await makeWorld(options.engine ?? sqliteEngine(), scope, {
    settings: { owner: 'replica', agentsFrom },
    clock,
  });
  const { store } = world;
  const network = networkTransport();
  scope.after(() => network.close());
  const time = virtualTime(clock);
  const environment = { clock: time.clock, random: () => 0.5, transport: time.watched(between(network)) };
  const events: ReplicaEvent[] = [];
  const usual = {
    from,
    interface: options.interface,
    token,
    store,
    source: SOURCE,
    environment,
    // Time on a test clock does not pass while a stream is open.
    follow: 'windows',
    ...(options.resources === undefined ? {} : { resources: options.resources }),
  } as const;
  const withEvents = (options: RunOptions): ReplicateOptions => ({
    ...usual,
    ...options,
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  return {
    ...world,
    events,
    reported: (kind) => events.flatMap((event) => (isKind(event, kind) ? [withoutKind(event)] : [])),
    slept: time.slept,
    replicate: (options = {}) => replicate(withEvents(options)),
    verify: (options = {}) => verifyReplica({ ...withEvents(options), ...options }),
    retry: () => {
      const { store: _, ...ask } = withEvents({});
      return retryQuarantined(store, { clock, ask });
    },
    status: () => sourceStatus(store, SOURCE, clock.now()),
    quarantine: async () =>
      (await store.checkpoints.quarantined(SOURCE)).map(({ resource, key, reason }) => [
        resource,
        key,
        reason,
      ]),
  };
}

function isKind<K extends ReplicaEvent['kind']>(
  event: ReplicaEvent,
  kind: K,
): event is Extract<ReplicaEvent, { kind: K }> {
  return event.kind === kind;
}

function withoutKind<E extends ReplicaEvent>({ kind: _, ...facts }: E): Omit<E, 'kind'> {
  return facts;
}
