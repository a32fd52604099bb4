/** Copies that watch a service on loopback in real time and are served themselves. */
import assert from 'node:assert/strict';
import type { ReplicaEvent } from '../../../src/replica/events.ts';
import { networkTransport, type Transport } from '../../../src/replica/http/transport.ts';
import type { ReplicateOptions } from '../../../src/replica/run/options.ts';
import { replicate } from '../../../src/replica/run/replicate.ts';
import { sourceStatus } from '../../../src/replica/status.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import type { TestClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** Real time. */
export const REAL: TestClock = {
  ...systemClock,
  set: () => assert.fail('Nobody sets it'),
  advance: () => assert.fail('Nobody sets it'),
  text: () => new Date().toISOString(),
};

export interface Follower extends TestService {
  readonly events: readonly ReplicaEvent[];
  /** The URLs that it has requested. */
  readonly asked: readonly string[];
  /** Ends the watch. */
  stop(): Promise<void>;
}

/** A copy that watches a service and is served itself. */
export async function follower(
  scope: Scope,
  of: TestService,
  options: Partial<ReplicateOptions> = {},
): Promise<Follower> {
  const copy = await startTestService(scope, { clock: REAL, settings: { owner: 'replica' } });
  const stop = new AbortController();
  const events: ReplicaEvent[] = [];
  const asked: string[] = [];
  const network = networkTransport();
  const transport: Transport = (request) => {
    asked.push(request.url);
    return network(request);
  };
  const running = replicate({
    from: `${of.addresses.replication}/Reso/OData`,
    interface: 'reso',
    token: await of.key('replication', { role: 'idx' }),
    source: 'feed',
    store: copy.store,
    resources: ['Property'],
    watch: true,
    signal: stop.signal,
    onEvent: (event) => events.push(event),
    environment: { clock: systemClock, random: Math.random, transport },
    ...options,
  }).finally(() => network.close());
  const ended = async (): Promise<void> => {
    stop.abort();
    assert.equal(await running, 'stopped');
  };
  scope.after(ended);
  return { ...copy, events, asked, stop: ended };
}

/** Resolves when a store satisfies a condition, which is checked after each commit. */
export async function untilHeld(store: Store, isHeld: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const committed = Promise.withResolvers<void>();
    const unwatch = store.watch(() => committed.resolve());
    try {
      if (await isHeld()) return;
      await committed.promise;
    } finally {
      unwatch();
    }
  }
}

/** What `plat status` reports for the copy. */
export const status = ({ store }: TestService) => sourceStatus(store, 'feed', Date.now());

/** Resolves when the copy has applied all reported changes, and its first update and first purge are over. */
export async function untilLevel(copy: Follower): Promise<void> {
  await untilHeld(copy.store, async () => {
    const { following, lastUpdate, lastPurge } = await status(copy);
    return following?.level !== undefined && lastUpdate !== undefined && lastPurge !== undefined;
  });
}
