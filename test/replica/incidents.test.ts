/** Incidents that others had, each by its name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetName, readUse } from '../../src/replica/http/rate-budget.ts';
import { listing, photo } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import { change, keyOf, keysUpTo, listings, take, withPhotos } from './support/feed.ts';
import { json } from './support/loopback.ts';
import { nativeServer } from './support/native-server.ts';
import { odataServer } from './support/odata-server.ts';
import { platFeed } from './support/plat-source.ts';
import { makeReplica } from './support/replica.ts';

const HOUR = 3600 * SECOND;
const resources = ['Property'];
const KINDS = ['reso', 'native'] as const;

for (const kind of KINDS) {
  test(`INCIDENT an empty table made the cursor zero (${kind}): the whole feed is not downloaded again`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', ...keysUpTo(5).map((key) => listing(key)));
    feed.clock.advance(HOUR);
    const replica = await feed.replica(t, kind, { resources });
    await replica.replicate();
    await replica.store.remove('Property', keysUpTo(5));
    feed.clock.advance(HOUR);
    await feed.write('Property', listing(keyOf(2), { StandardStatus: 'Pending' }));
    feed.clock.advance(60 * SECOND);
    const before = replica.requests.length;
    await replica.replicate();
    const [first = ''] = replica.requests.slice(before).filter((url) => /ModificationTimestamp/.test(url));
    assert.match(first, kind === 'reso' ? /gt 2026-06-01T12:59:49Z/ : /bt 2026-06-01T12:59:50Z,/);
    assert.deepEqual(await replica.keys('Property'), [keyOf(2)]);
    assert.deepEqual(
      replica.told('step').filter(({ step, state }) => step === 'initial' && state === 'begun').length,
      1,
    );
    // What is missing is the sweep's to find, key by key.
    feed.clock.advance(DAY);
    await replica.replicate();
    assert.deepEqual(await replica.keys('Property'), keysUpTo(5));
  });
}

test('INCIDENT gt on truncated milliseconds skipped records: stamps keep theirs, and the overlap takes both edges in', async (t) => {
  const clock = testClock();
  const stamps = [
    '11:59:00.000',
    '11:59:00.001',
    '11:59:00.999',
    '12:58:59.999',
    '12:59:00.000',
    '12:59:00.001',
  ];
  const server = await odataServer(t, clock, { Property: listings(1, clock) });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  stamps.forEach((stamp, at) => {
    list.push(listing(keyOf(10 + at), { ModificationTimestamp: `2026-06-01T${stamp}Z` }));
  });
  for (let hour = 0; hour < 2; hour++) {
    clock.advance(HOUR);
    await replica.replicate();
  }
  assert.deepEqual(await replica.keys('Property'), [keyOf(1), ...keysUpTo(6, 10)]);
  assert.equal(
    (await replica.record('Property', keyOf(12)))?.ModificationTimestamp,
    '2026-06-01T11:59:00.999Z',
  );
});

test('INCIDENT rate windows forgotten at restart: the next run goes on counting', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  const limits = { requestsPerHour: 30 };
  await replica.replicate({ limits });
  const used = server.seen.length;
  const { use } = await replica.store.checkpoints.state(budgetName('secret'));
  assert.deepEqual(
    readUse(use).hour.used.map(([requests]) => requests),
    [used],
  );
  clock.advance(60 * SECOND);
  await replica.replicate({ limits });
  const waits = replica.told('waiting');
  assert.deepEqual(waits, [{ reason: 'the rate limit of the source', wait: HOUR }]);
  assert.ok(used < 30 && server.seen.length > 30);
});

test('INCIDENT an empty child array wiped all media: not expanded is not the same as expanded and empty', async (t) => {
  const clock = testClock();
  const server = await odataServer(
    t,
    clock,
    { Property: listings(3, clock, withPhotos) },
    { expands: ['Media'] },
  );
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  const every = ['1001-0', '1002-0', '1002-1'];
  assert.deepEqual(await replica.keys('Media'), every);
  clock.advance(HOUR);
  change(list, keyOf(1), { ListPrice: 1 }, clock);
  change(list, keyOf(2), { Media: [] }, clock);
  clock.advance(600 * SECOND);
  // The server leaves the collection of the first listing out, and gives the second one's empty.
  server.intercept = ({ query }) =>
    query.has('$filter')
      ? json({
          value: list
            .filter((each) => Date.parse(String(each.ModificationTimestamp)) > clock.now() - HOUR)
            .map(({ Media, ...rest }) => (rest.ListingKey === keyOf(1) ? rest : { ...rest, Media })),
        })
      : undefined;
  await replica.replicate();
  assert.deepEqual(await replica.keys('Media'), ['1001-0']);
});

test('INCIDENT an empty child array wiped all media: what was not asked for is not believed', async (t) => {
  const clock = testClock();
  // Without _expand this server gives empty lists.
  const server = await nativeServer(
    t,
    clock,
    listings(3, clock, (number) => ({
      Photos: [{ Id: `p${number}`, Uri800: `https://img.example/${number}` }],
    })),
  );
  server.intercept = ({ path, query }) => {
    if (path !== '/v1/listings' || query.has('_expand') || query.has('_select')) return undefined;
    if (query.get('_skiptoken') !== '') return undefined;
    const results = server.listings.map((fields) => ({
      Id: fields.ListingKey,
      StandardFields: { ...fields, Photos: [], Rooms: [] },
    }));
    return json({ D: { Success: true, Results: results, SkipToken: keyOf(3) } });
  };
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock, resources });
  await replica.replicate();
  assert.deepEqual(await replica.keys('Media'), ['p1', 'p2', 'p3']);
  // What the key may see changes, so that everything is read again; the run ends before the sub-data follows.
  server.standardFields = { ListPrice: {} };
  clock.advance(HOUR);
  const stop = new AbortController();
  await replica.replicate({
    signal: stop.signal,
    onEvent: (event) => event.kind === 'page' && event.step === 'initial' && stop.abort(),
  });
  assert.equal(replica.told('refresh').length, 1);
  assert.deepEqual(await replica.keys('Media'), ['p1', 'p2', 'p3']);
});

test('INCIDENT a daemon that ended on "nothing to do" was never started again: a watch goes on through quiet days', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  const stop = new AbortController();
  let updates = 0;
  const result = await replica.replicate({
    watch: true,
    purgeEvery: 2 * HOUR,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind !== 'step' || event.step !== 'update' || event.state !== 'done') return;
      updates++;
      if (updates === 20) change(list, keyOf(2), { ListPrice: 77 }, clock);
      if (updates === 22) stop.abort();
    },
  });
  assert.deepEqual([result, updates], ['stopped', 22]);
  assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 77);
  const sweeps = replica.told('step').filter(({ step, state }) => step === 'sweep' && state === 'done');
  assert.equal(sweeps.length, 3, 'one at once, then every two hours of five');
});

test('INCIDENT 18,000 listings lost to inserts that failed in silence: each is told, kept, counted and found by verify', async (t) => {
  const clock = testClock();
  const broken = (number: number) => (number % 3 === 0 ? { ListPrice: `${number} dollars` } : {});
  const server = await odataServer(t, clock, { Property: listings(9, clock, broken) });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  const lost = [keyOf(3), keyOf(6), keyOf(9)];
  const reason = (key: string): string => `ListPrice is "${Number(key) - 1000} dollars", but takes a number`;
  assert.deepEqual(
    await replica.quarantine(),
    lost.map((key) => ['Property', key, reason(key)]),
  );
  const told = replica.told('quarantined').map(({ key }) => key);
  assert.deepEqual([...new Set(told)], lost);
  const status = await replica.status();
  assert.equal(status.quarantined + (status.collections[0]?.stored ?? 0), 9);
  const [verified] = await replica.verify();
  assert.deepEqual(
    verified?.differences.map(({ key, kind }) => [key, kind]),
    lost.map((key) => [key, 'quarantined']),
  );
  // The source mends one: it is stored with the next update, and out of the quarantine.
  clock.advance(HOUR);
  change(list, keyOf(3), { ListPrice: 3 }, clock);
  clock.advance(600 * SECOND);
  await replica.replicate();
  assert.equal((await replica.record('Property', keyOf(3)))?.ListPrice, 3);
  assert.deepEqual(
    (await replica.quarantine()).map(([, key]) => key),
    [keyOf(6), keyOf(9)],
  );
});

test('INCIDENT development and production shared one token, and no photo arrived: what was refused for now is asked for again', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(8, clock, withPhotos) }, { paths: true });
  let refused = 0;
  server.intercept = ({ path }) => {
    // Somebody else uses the token up: the first forty requests for photos come too often.
    if (!path.endsWith('/Media') || refused >= 40) return undefined;
    refused++;
    return { status: 429, headers: { 'retry-after': '60' }, body: 'Too many' };
  };
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  for (let run = 0; run < 8; run++) {
    await replica.replicate().catch(() => undefined);
    clock.advance(HOUR);
  }
  const media = (server.records.get('Property') ?? []).flatMap(({ Media }) =>
    Array.isArray(Media) ? Media : [],
  );
  assert.deepEqual(
    await replica.keys('Media'),
    media.map(({ MediaKey }) => MediaKey),
  );
  assert.deepEqual([refused, await replica.quarantine()], [40, []]);
});

test('INCIDENT dates compared as strings moved a watermark backwards: a clock that runs back moves no cursor', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  const cursor = async () => (await replica.status()).collections[0]?.cursor;
  await replica.replicate();
  clock.advance(HOUR);
  await replica.replicate();
  assert.equal(await cursor(), '2026-06-01T12:59:00Z');
  const asked = server.seen.filter(({ query }) => query.has('$filter')).length;
  clock.set('2026-06-01T12:30:00Z');
  await replica.replicate();
  assert.equal(await cursor(), '2026-06-01T12:59:00Z');
  assert.equal(server.seen.filter(({ query }) => query.has('$filter')).length, asked, 'no window was opened');
  // Ten is less than nine as text; a zone and a fraction are no reason for another moment either.
  list.push(listing(keyOf(9), { ModificationTimestamp: '2026-06-10T09:30:00.5+02:00' }));
  clock.set('2026-06-10T10:00:00Z');
  await replica.replicate();
  assert.equal(await cursor(), '2026-06-10T09:59:00Z');
  assert.equal(
    (await replica.record('Property', keyOf(9)))?.ModificationTimestamp,
    '2026-06-10T07:30:00.500Z',
  );
});

test('INCIDENT a purge that holds all ids in memory and cannot resume: it goes on where it stopped', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(40, clock) }, { page: 5 });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  take(server.records.get('Property') ?? [], keyOf(1), keyOf(20), keyOf(40));
  clock.advance(DAY);
  const before = server.seen.length;
  let ended = 0;
  for (let run = 0; ended === 0; run++) {
    assert.ok(run < 20, 'it comes to its end');
    const stop = new AbortController();
    await replica.replicate({
      step: 'purge',
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'page' && event.step === 'sweep') stop.abort();
        if (event.kind === 'step' && event.step === 'sweep' && event.state === 'done')
          ended ||= server.seen.length;
      },
    });
  }
  const tokens = server.seen
    .slice(before, ended)
    .filter(({ query }) => query.get('$select') === 'ListingKey')
    .map(({ query }) => query.get('$skiptoken'));
  assert.equal(tokens.filter((token) => token === null).length, 1, 'the first page was asked for once');
  assert.deepEqual([...new Set(tokens)], [null, '5', '10', '15', '20', '25', '30', '35']);
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(38, 2).filter((key) => key !== keyOf(20)),
  );
});

test('a purge that was killed between two batches of deletes goes on with the rest', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(1300, clock) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  server.records.set('Property', listings(1300, clock).slice(0, 1));
  clock.advance(DAY);
  // The first batch is stored; then the process dies.
  const killed = replica.replicate({
    step: 'purge',
    force: true,
    onEvent: (event) => {
      if (event.kind === 'deleted') throw new Error('killed');
    },
  });
  await assert.rejects(killed, { message: 'killed' });
  assert.equal((await replica.keys('Property')).length, 800);
  await replica.replicate({ step: 'purge' });
  assert.deepEqual(await replica.keys('Property'), [keyOf(1)]);
  const deleted = replica.told('deleted').flatMap(({ keys }) => keys);
  assert.deepEqual([deleted.length, new Set(deleted).size], [1299, 1299]);
});

test('media of a listing are not touched by an update that brings a photo twice', async (t) => {
  const clock = testClock();
  const server = await odataServer(
    t,
    clock,
    { Property: listings(1, clock, () => ({ Media: [photo('a', { Order: 1 }), photo('a', { Order: 2 })] })) },
    { expands: ['Media'] },
  );
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  assert.deepEqual(
    (await replica.rows('Media')).map(({ MediaKey, Order }) => [MediaKey, Order]),
    [['a', 2]],
  );
  assert.deepEqual(await replica.quarantine(), []);
});
