/** A source whose clock was wrong for a while: the copy recovers and reports the reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport } from '../../src/replica/http/transport.ts';
import { isCopyEqual } from '../../src/replica/verify/results.ts';
import { listing } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { change, keyOf, keysUpTo, listings } from './support/feed.ts';
import { odataServer } from './support/odata-server.ts';
import { platFeed } from './support/plat-source.ts';
import { makeReplica } from './support/replica.ts';

const HOUR = 3600 * SECOND;
const YEAR = 365 * DAY;

/** Six listings of a source whose clock can be set wrong, and a copy of them. */
async function scene(scope: Scope) {
  const clock = testClock();
  const server = await odataServer(scope, clock, { Property: listings(6, clock) });
  const offset = { milliseconds: 0 };
  const between =
    (transport: Transport): Transport =>
    async (request) => {
      const response = await transport(request);
      const date = new Date(Date.parse(response.headers.date ?? '') + offset.milliseconds).toUTCString();
      return { ...response, headers: { ...response.headers, date } };
    };
  const resources = ['Property'];
  const replica = await makeReplica(scope, {
    from: server.root,
    interface: 'reso',
    clock,
    resources,
    between,
  });
  const list: Json[] = server.records.get('Property') ?? [];
  const price = async (key: string): Promise<unknown> =>
    (await replica.exported('Property')).find(({ ListingKey }) => ListingKey === key)?.ListPrice;
  return { clock, list, offset, price, replica };
}

test('a Date ten years ahead during one run does not freeze the copy: the next run reads everything again', async (t) => {
  const { clock, list, offset, price, replica } = await scene(t);
  await replica.replicate();
  clock.advance(HOUR);
  offset.milliseconds = 10 * YEAR;
  await replica.replicate();
  assert.match(
    (await replica.status()).stale ?? '',
    /^the cursor of Property lies 87[56]\d\d\.\d hours in the future$/,
  );
  offset.milliseconds = 0;
  clock.advance(HOUR);
  change(list, keyOf(3), { ListPrice: 7 }, clock);
  clock.advance(HOUR);
  assert.equal(await replica.replicate(), 'done');
  assert.equal(await price(keyOf(3)), 7);
  const [{ reason } = { reason: '' }, ...others] = replica.reported('refresh');
  assert.match(reason, /^the source's clock went back to 2026-\S+ from 2036-\S+ or later$/);
  assert.deepEqual(others, []);
  assert.equal((await replica.status()).stale, undefined);
});

test('a source clock that is two days off is reported', async (t) => {
  const { offset, replica } = await scene(t);
  offset.milliseconds = -2 * DAY;
  await replica.replicate({ step: 'initial' });
  assert.deepEqual(
    replica
      .reported('clock')
      .map(({ sourceClock, ahead }) => [sourceClock.slice(0, 10), Math.round(ahead / DAY)]),
    [['2026-05-30', -2]],
  );
});

test('clocks that differ by less than an hour do not cause a new download', async (t) => {
  const { clock, offset, replica } = await scene(t);
  await replica.replicate();
  clock.advance(HOUR);
  offset.milliseconds = 50 * 60 * SECOND;
  await replica.replicate();
  offset.milliseconds = 0;
  await replica.replicate();
  assert.deepEqual([replica.reported('refresh'), replica.reported('clock')], [[], []]);
});

for (const watch of [false, true]) {
  test(`a consumer whose clock was ahead does not wait for that time: ${watch ? 'the watch' : '--once'} updates and purges again`, async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(6, clock) });
    const own = testClock('2028-06-01T12:00:00Z');
    const replica = await makeReplica(t, {
      from: server.root,
      interface: 'reso',
      clock: own,
      resources: ['Property'],
    });
    await replica.replicate();
    assert.equal((await replica.status()).lastPurge, '2028-06-01T12:00:00Z');
    own.set('2026-06-01T13:00:00Z');
    clock.set('2026-06-01T13:00:00Z');
    assert.match(
      (await replica.status()).stale ?? '',
      /^the last update lies 175\d\d\.0 hours in the future$/,
    );
    server.records.get('Property')?.splice(2, 1);
    const stop = new AbortController();
    await replica.replicate({
      ...(watch ? { watch, signal: stop.signal } : {}),
      onEvent: (event) =>
        event.kind === 'step' && event.step === 'sweep' && event.state === 'done' && stop.abort(),
    });
    assert.deepEqual(await replica.keys('Property'), [1, 2, 4, 5, 6].map(keyOf));
    assert.equal(own.text().slice(0, 13), '2026-06-01T13');
  });
}

test('a watch whose clock is set back while it waits continues at once', async (t) => {
  const { clock, list, price, replica } = await scene(t);
  const stop = new AbortController();
  let updates = 0;
  await replica.replicate({
    watch: true,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      if (++updates === 2) {
        change(list, keyOf(3), { ListPrice: 7 }, clock);
        clock.advance(-2 * DAY);
      }
      if (updates === 4) stop.abort();
    },
  });
  assert.equal(await price(keyOf(3)), 7);
  assert.ok(clock.now() < Date.parse('2026-05-31T12:00:00Z'), 'it did not wait for the clock to come back');
});

test('for verify, a change with a timestamp two days in the future is a difference, not pending', async (t) => {
  const { clock, list, replica } = await scene(t);
  await replica.replicate();
  clock.advance(60 * SECOND);
  const stamped = async (milliseconds: number) => {
    const ModificationTimestamp = new Date(clock.now() + milliseconds).toISOString();
    const record = list.find(({ ListingKey }) => ListingKey === keyOf(3));
    Object.assign(record ?? {}, { ListPrice: 7, ModificationTimestamp });
    const [verified] = await replica.verify();
    return [verified?.pending, verified?.differences.map(({ key, kind }) => [key, kind])];
  };
  assert.deepEqual(await stamped(HOUR / 2), [1, []]);
  assert.deepEqual(await stamped(2 * DAY), [0, [[keyOf(3), 'content']]]);
});

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: verify detects a source that a wrong clock froze, and after restamping its copy catches up`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', ...keysUpTo(9).map((key) => listing(key)));
    feed.clock.advance(HOUR);
    const replica = await feed.replica(t, kind, { resources: ['Property'] });
    await replica.replicate();
    const isWhole = async () => isCopyEqual(await replica.verify());
    assert.equal(await isWhole(), true);
    feed.clock.advance(2 * DAY);
    await feed.write('Property', listing(keyOf(2), { ListPrice: 7 }));
    await feed.store.remove('Property', [keyOf(3)]);
    feed.clock.advance(HOUR - 2 * DAY);
    assert.equal(await isWhole(), false);
    await feed.store.restamp();
    feed.clock.advance(HOUR);
    assert.equal(await replica.replicate(), 'done');
    assert.equal(replica.reported('refresh').length, 1);
    assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 7);
    assert.deepEqual(await replica.keys('Property'), [1, 2, 4, 5, 6, 7, 8, 9].map(keyOf));
    assert.equal(await isWhole(), true);
  });
}
