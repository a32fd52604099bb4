/** A store that is unavailable for a while, for example while its database restarts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { platError } from '../../src/errors/index.ts';
import type { ReplicaEvent } from '../../src/replica/events.ts';
import type { Transport } from '../../src/replica/http/transport.ts';
import type { Checkpoints } from '../../src/store/checkpoint/checkpoints.ts';
import type { Store } from '../../src/store/store.ts';
import { SECOND, testClock } from '../support/clock.ts';
import { replaced } from './simulation/replaced.ts';
import { change, keyOf, keysUpTo, listings } from './support/feed.ts';
import { odataServer } from './support/odata-server.ts';
import { makeReplica, SOURCE, type TestReplica } from './support/replica.ts';

const MINUTE = 60 * SECOND;
const away = {
  name: 'PlatError',
  code: 'storeUnavailable',
  message: 'The store cannot be reached at the moment.',
};

/** The reason that an operator sees. */
const REASON = 'The store cannot be reached at the moment: it is starting up.';

/** The replica's store, with calls that fail while it is unavailable. */
function storeAway({ store }: TestReplica, isAway: (call: keyof Checkpoints) => boolean): Store {
  const checkpoints = new Proxy(store.checkpoints, {
    get: (target, name: keyof Checkpoints) =>
      isAway(name)
        ? () => Promise.reject(platError('storeUnavailable', {}, { cause: new Error('it is starting up') }))
        : target[name],
  });
  return replaced(store, { checkpoints });
}

async function world(
  t: TestContext,
  count: number,
  between = (transport: Transport): Transport => transport,
) {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(count, clock) });
  const replica = await makeReplica(t, {
    from: server.root,
    interface: 'reso',
    clock,
    resources: ['Property'],
    between,
  });
  return { clock, server, replica };
}

test('a run waits for a store that is unavailable for a while, and loses nothing', async (t) => {
  const { replica } = await world(t, 20);
  let commits = 0;
  const store = storeAway(replica, (call) => call === 'commit' && ++commits >= 6 && commits <= 8);
  assert.equal(await replica.replicate({ store, pageSize: 4 }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(20));
  assert.deepEqual(
    replica.reported('failed'),
    [1000, 2000, 4000].map((wait) => ({ reason: REASON, wait })),
  );
});

test('a page that is requested ahead is aborted when the run that requested it fails', async (t) => {
  const asked = Promise.withResolvers<AbortSignal>();
  const failed = Promise.withResolvers<boolean>();
  let isFirst = true;
  const { replica } = await world(t, 20, (transport) => async (request) => {
    const { signal } = request;
    if (!isFirst || new URL(request.url).searchParams.get('$skiptoken') !== '4.0')
      return await transport(request);
    asked.resolve(signal);
    await Promise.race([once(signal, 'abort'), failed.promise]);
    throw new Error('it never came');
  });
  const { checkpoints } = replica.store;
  const commit: Checkpoints['commit'] = async (source, change) => {
    if (!isFirst || change.records === undefined) return await checkpoints.commit(source, change);
    await asked.promise;
    throw platError('storeUnavailable', {});
  };
  const store = replaced(replica.store, { checkpoints: replaced(checkpoints, { commit }) });
  const onEvent = ({ kind }: ReplicaEvent): void => {
    if (kind !== 'failed') return;
    isFirst = false;
    failed.resolve(asked.promise.then(({ aborted }) => aborted));
  };
  assert.equal(await replica.replicate({ store, pageSize: 4, onEvent }), 'done');
  assert.equal(await failed.promise, true);
  assert.deepEqual(replica.reported('failed'), [{ reason: away.message, wait: 1000 }]);
  assert.deepEqual(replica.reported('retry'), []);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(20));
});

test('a verification that fails aborts all of its requests', async (t) => {
  const signals: AbortSignal[] = [];
  const { replica } = await world(t, 20, (transport) => (request) => {
    signals.push(request.signal);
    return transport(request);
  });
  await replica.replicate();
  signals.length = 0;
  const onProgress = (_: string, done: number): void => assert.notEqual(done, 8, 'enough');
  await assert.rejects(replica.verify({ pageSize: 4, onProgress }), /enough/);
  assert.ok(signals.length > 2 && signals.every(({ aborted }) => aborted));
});

test('a store failure while the use of a token is counted is reported as one of the store, not of the request', async (t) => {
  const { replica } = await world(t, 20);
  let notes = 0;
  const store = storeAway(replica, (call) => call === 'exchange' && ++notes === 10);
  assert.equal(await replica.replicate({ store, pageSize: 4, limits: { requestsPerHour: 1000 } }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(20));
  assert.deepEqual(replica.reported('retry'), []);
  assert.deepEqual(replica.reported('failed'), [{ reason: REASON, wait: 1000 }]);
});

test('a run gives up after ten failures of its store, a watch never does', async (t) => {
  const { replica, clock } = await world(t, 3);
  let isAway = false;
  const store = storeAway(replica, (call) => isAway && call === 'commit');
  await replica.replicate({ store });
  isAway = true;
  await assert.rejects(replica.replicate({ store }), away);
  const waits = replica.reported('failed').map(({ wait }) => wait / SECOND);
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]);
  // The lease that could not be released has expired.
  clock.advance(2 * MINUTE);
  const stop = new AbortController();
  replica.events.length = 0;
  const watching = replica.replicate({
    store,
    watch: true,
    signal: stop.signal,
    onEvent: ({ kind }) => {
      if (replica.reported('failed').length === 40) isAway = false;
      if (kind === 'step' && !isAway) stop.abort();
    },
  });
  assert.equal(await watching, 'stopped');
  assert.equal(replica.reported('failed').length, 40);
});

test('a watch continues after its store was unavailable, and its source for even longer', async (t) => {
  const { replica, server, clock } = await world(t, 3);
  let downUntil = Number.NEGATIVE_INFINITY;
  const isDown = (): boolean => clock.now() < downUntil;
  server.intercept = () => (isDown() ? { status: 503, body: 'down' } : undefined);
  const store = storeAway(replica, () => clock.now() < downUntil - 50 * MINUTE);
  const stop = new AbortController();
  const watching = replica.replicate({
    store,
    watch: true,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      if (downUntil > 0) stop.abort();
      else {
        downUntil = clock.now() + 60 * MINUTE;
        change(server.records.get('Property') ?? [], keyOf(2), { ListPrice: 77 }, clock);
      }
    },
  });
  assert.equal(await watching, 'stopped');
  assert.ok(clock.now() >= downUntil);
  const reasons = new Set(replica.reported('failed').map(({ reason }) => reason));
  assert.deepEqual([...reasons].toSorted(), ['503: down', REASON]);
  const [row] = await replica.rows('Property', `$filter=ListingKey eq '${keyOf(2)}'`);
  assert.equal(row?.ListPrice, 77);
});

test('a lease that cannot be released expires by itself and does not fail the run', async (t) => {
  const { replica } = await world(t, 2);
  const store = storeAway(replica, (call) => call === 'releaseLease');
  assert.equal(await replica.replicate({ store }), 'done');
});

test('a watch that is stopped while its store is unavailable ends as stopped, not as failed', async (t) => {
  const { replica } = await world(t, 2);
  const stop = new AbortController();
  let failures = 0;
  const store = storeAway(replica, (call) => {
    if (replica.reported('page').length === 0 || call === 'releaseLease') return false;
    if (++failures === 2) stop.abort();
    return true;
  });
  assert.equal(await replica.replicate({ store, watch: true, signal: stop.signal }), 'stopped');
  assert.deepEqual(replica.reported('failed'), [{ reason: REASON, wait: 750 }]);
});

test('the wait after a store failure starts anew after each success', async (t) => {
  const { replica } = await world(t, 2);
  const stop = new AbortController();
  let updates = 0;
  let isAway = false;
  const store = storeAway(replica, (call) => {
    if (!isAway || call !== 'commit') return false;
    isAway = false;
    return true;
  });
  const watching = replica.replicate({
    store,
    watch: true,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      isAway = ++updates % 4 === 0;
      if (updates === 20) stop.abort();
    },
  });
  assert.equal(await watching, 'stopped');
  assert.deepEqual(
    replica.reported('failed').map(({ wait }) => wait),
    [750, 750, 750, 750],
  );
});

test('a watch whose source is taken over by another process reports that, waits for its end, and continues', async (t) => {
  const { replica, clock } = await world(t, 2);
  const begun = clock.now();
  let taken = 0;
  let updates = 0;
  const stop = new AbortController();
  // The first commit after a while renews only the lease.
  const store = storeAway(replica, (call) => {
    const now = clock.now() + 2 * MINUTE;
    if (call === 'commit' && clock.now() > begun + 15 * SECOND && ++taken === 1)
      void replica.store.checkpoints.lease(SOURCE, { holder: 'another:1:ab', now, until: now + MINUTE });
    return false;
  });
  const watching = replica.replicate({
    store,
    watch: true,
    updateEvery: MINUTE,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      if (++updates === 2) stop.abort();
    },
  });
  assert.equal(await watching, 'stopped');
  const [lost, ...others] = replica.reported('failed').map(({ reason }) => reason);
  assert.match(lost ?? '', /another process/i);
  assert.ok(others.length >= 3, 'it keeps trying');
  for (const reason of others)
    assert.match(reason, /^another:1:ab is replicating feed into this store; its lease ends in \d+ s/);
  assert.deepEqual(replica.reported('recovered'), [{ attempts: others.length + 2 }]);
  assert.ok(clock.now() >= begun + 3 * MINUTE);
  assert.deepEqual((await replica.status()).troubles, []);
});
