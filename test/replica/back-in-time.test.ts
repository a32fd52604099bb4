/** A source that was restored from a backup: the copy notices, downloads everything again and deletes what the source no longer has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { change, keyOf, keysUpTo, listings, take } from './support/feed.ts';
import { odataServer } from './support/odata-server.ts';
import { platFeed } from './support/plat-source.ts';
import { makeReplica } from './support/replica.ts';

const HOUR = 3600 * SECOND;

/** A source with thirty listings that sends no epoch, and a copy of it that is an hour old. */
async function scene(scope: Scope) {
  const clock = testClock();
  const server = await odataServer(scope, clock, { Property: listings(30, clock) });
  const replica = await makeReplica(scope, {
    from: server.root,
    interface: 'reso',
    clock,
    resources: ['Property'],
  });
  await replica.replicate();
  const list: Json[] = server.records.get('Property') ?? [];
  const prices = async (): Promise<Json> =>
    Object.fromEntries(
      (await replica.exported('Property')).map(({ ListingKey, ListPrice }) => [ListingKey, ListPrice]),
    );
  const atSource = (): Json =>
    Object.fromEntries(list.map(({ ListingKey, ListPrice }) => [ListingKey, ListPrice]));
  /** Changes, deletes and adds records, and updates the copy. @returns a function that restores the source to the state before */
  const changeAndFollow = async (): Promise<() => void> => {
    const backup = [...list];
    clock.advance(HOUR);
    change(list, keyOf(3), { ListPrice: 1 }, clock);
    change(list, keyOf(4), { ListPrice: 2 }, clock);
    take(list, keyOf(5));
    clock.advance(60 * SECOND);
    list.push(listing(keyOf(31), { ListPrice: 31, ModificationTimestamp: clock.text() }));
    clock.advance(HOUR);
    await replica.replicate({ purgeEvery: 0 });
    assert.deepEqual(await prices(), atSource());
    clock.advance(HOUR);
    return () => void list.splice(0, list.length, ...backup);
  };
  return { clock, server, list, replica, prices, atSource, changeAndFollow };
}

test('a source without epochs that was restored from a backup is detected by its newest records', async (t) => {
  const { replica, changeAndFollow, prices, atSource } = await scene(t);
  const restore = await changeAndFollow();
  restore();
  assert.equal(await replica.replicate(), 'done');
  const [{ reason } = { reason: '' }, ...others] = replica.reported('refresh');
  assert.match(
    reason,
    /^the source went back in time, as after a restore from a backup: Property 1003 has the timestamp 2026-\S+, and had 2026-\S+$/,
  );
  assert.deepEqual(others, []);
  assert.deepEqual(await prices(), atSource());
  assert.deepEqual(await replica.keys('Property'), keysUpTo(30));
  replica.events.length = 0;
  await replica.replicate();
  assert.deepEqual(replica.reported('refresh'), [], 'once');
});

test('a restored source is detected even after it has accepted new changes', async (t) => {
  const { clock, list, replica, changeAndFollow, prices, atSource } = await scene(t);
  const restore = await changeAndFollow();
  restore();
  change(list, keyOf(4), { ListPrice: 44 }, clock);
  change(list, keyOf(9), { ListPrice: 99 }, clock);
  clock.advance(HOUR);
  await replica.replicate();
  assert.equal(replica.reported('refresh').length, 1);
  assert.deepEqual(await prices(), atSource());
});

test('a source that is quiet, or whose newest records were deleted, does not count as restored', async (t) => {
  const { clock, server, list, replica, changeAndFollow } = await scene(t);
  await changeAndFollow();
  await replica.replicate();
  clock.advance(DAY);
  const asked = server.asked('Property').length;
  await replica.replicate({ purgeEvery: 2 * DAY });
  const single = server
    .asked('Property')
    .slice(asked)
    .filter((url) => url.includes(keyOf(31)));
  assert.equal(single.length, 1, 'one record of a quiet source is requested');
  take(list, keyOf(31), keyOf(4), keyOf(3), keyOf(30));
  await replica.replicate({ purgeEvery: 0 });
  await replica.replicate();
  assert.deepEqual(replica.reported('refresh'), []);
  take(list, ...keysUpTo(31));
  await replica.replicate({ purgeEvery: 0, force: true });
  await replica.replicate();
  assert.deepEqual(replica.reported('refresh'), []);
  assert.deepEqual(await replica.keys('Property'), []);
});

test('a server of the source that lags for a minute does not cause a new download', async (t) => {
  const { clock, server, list, replica, changeAndFollow, prices, atSource } = await scene(t);
  const restore = await changeAndFollow();
  const now = [...list];
  restore();
  const behind = clock.now();
  // The consumer requests the record again after a minute.
  server.intercept = () => {
    if (clock.now() >= behind + 60 * SECOND) list.splice(0, list.length, ...now);
    return undefined;
  };
  await replica.replicate();
  assert.ok(replica.slept.includes(60 * SECOND));
  assert.deepEqual(replica.reported('refresh'), []);
  assert.deepEqual(await prices(), atSource());
});

test('records that keep changing back and forth are reported and fail the probe, but cause only one new download a day', async (t) => {
  const { clock, list, replica, changeAndFollow } = await scene(t);
  const restore = await changeAndFollow();
  restore();
  await replica.replicate();
  assert.equal(replica.reported('refresh').length, 1);
  const backup = [...list];
  clock.advance(HOUR);
  change(list, keyOf(7), { ListPrice: 7 }, clock);
  clock.advance(HOUR);
  await replica.replicate();
  list.splice(0, list.length, ...backup);
  clock.advance(HOUR);
  await replica.replicate();
  assert.equal(replica.reported('refresh').length, 1);
  const [doubt] = replica.reported('doubt');
  assert.match(
    doubt?.reason ?? '',
    /This has happened before within a day; "plat replicate --refresh" reads everything again\.$/,
  );
  const [trouble] = (await replica.status()).troubles;
  assert.deepEqual([trouble?.step, trouble?.lasting, trouble?.reason], ['source', true, doubt?.reason]);
  await replica.replicate({ refresh: true });
  clock.advance(HOUR);
  await replica.replicate();
  assert.deepEqual((await replica.status()).troubles, []);
});

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: when a plat source begins a new epoch, the copy downloads everything once and deletes missing records`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', ...keysUpTo(20).map((key) => listing(key)));
    const replica = await feed.replica(t, kind, { resources: ['Property'] });
    feed.clock.advance(60 * SECOND);
    await replica.replicate();
    feed.clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(replica.reported('refresh'), []);
    // No window shows that these records are missing.
    await feed.store.remove('Property', [keyOf(2)]);
    await feed.store.beginEpoch({});
    feed.clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(
      replica.reported('refresh').map(({ reason }) => reason),
      ['the source went back in time, as after a restore from a backup'],
    );
    assert.deepEqual(
      await replica.keys('Property'),
      keysUpTo(20).filter((key) => key !== keyOf(2)),
    );
    replica.events.length = 0;
    feed.clock.advance(HOUR);
    await replica.replicate();
    assert.deepEqual(replica.reported('refresh'), []);
  });
}

test('a watch notices a new epoch at its next update', async (t) => {
  const feed = await platFeed(t);
  await feed.write('Property', ...keysUpTo(5).map((key) => listing(key)));
  const replica = await feed.replica(t, 'reso', { resources: ['Property'] });
  feed.clock.advance(60 * SECOND);
  const stop = new AbortController();
  let updates = 0;
  await replica.replicate({
    watch: true,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind === 'refresh') stop.abort();
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      if (++updates === 2) void feed.store.beginEpoch({});
      if (updates === 9) stop.abort();
    },
  });
  assert.deepEqual([updates, replica.reported('refresh').length], [2, 1]);
});
