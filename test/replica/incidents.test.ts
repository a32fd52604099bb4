/** Incidents of other systems, each by its name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetName, parseUsage } from '../../src/replica/http/rate-budget.ts';
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
  test(`INCIDENT an empty table made the cursor zero (${kind}): an update continues at its cursor, and the sweep finds what is missing`, async (t) => {
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
      replica.reported('step').filter(({ step, state }) => step === 'initial' && state === 'begun').length,
      1,
    );
    // The sweep finds the missing records by their keys.
    feed.clock.advance(DAY);
    await replica.replicate();
    assert.deepEqual(await replica.keys('Property'), keysUpTo(5));
  });
}

test('INCIDENT gt on truncated milliseconds skipped records: timestamps keep their milliseconds, and overlapping windows include both edges', async (t) => {
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

test('INCIDENT rate windows forgotten at restart: the next run continues to count', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  const limits = { requestsPerHour: 30 };
  await replica.replicate({ limits });
  const used = server.seen.length;
  const { use } = await replica.store.checkpoints.state(budgetName('secret'));
  assert.deepEqual(
    parseUsage(use).hour.used.map(([requests]) => requests),
    [used],
  );
  clock.advance(60 * SECOND);
  await replica.replicate({ limits });
  const waits = replica.reported('waiting');
  assert.deepEqual(waits, [{ reason: 'the rate limit of the source', wait: HOUR }]);
  assert.ok(used < 30 && server.seen.length > 30);
});

test('INCIDENT an empty child array wiped all media: a collection that is absent is left alone, one that is empty is emptied', async (t) => {
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
  // The server omits the collection of the first listing and sends an empty one for the second.
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

test('INCIDENT an empty child array wiped all media: an empty collection that was not requested is ignored', async (t) => {
  const clock = testClock();
  // Without _expand this server sends empty lists.
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
  // The fields that the key sees change, so that everything is read again; the run ends before the sub-data is requested.
  server.standardFields = { ListPrice: {} };
  clock.advance(HOUR);
  const stop = new AbortController();
  await replica.replicate({
    signal: stop.signal,
    onEvent: (event) => event.kind === 'page' && event.step === 'initial' && stop.abort(),
  });
  assert.equal(replica.reported('refresh').length, 1);
  assert.deepEqual(await replica.keys('Media'), ['p1', 'p2', 'p3']);
});

test('INCIDENT a daemon that ended on "nothing to do" was never started again: a watch continues through days without changes', async (t) => {
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
  const sweeps = replica.reported('step').filter(({ step, state }) => step === 'sweep' && state === 'done');
  assert.equal(sweeps.length, 3, 'one at the start, then one every two hours of five');
});

test('INCIDENT 18,000 listings lost to inserts that failed without a report: each is reported, quarantined, counted and found by verify', async (t) => {
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
  const reported = replica.reported('quarantined').map(({ key }) => key);
  assert.deepEqual([...new Set(reported)], lost);
  const status = await replica.status();
  assert.equal(status.quarantined + (status.collections[0]?.stored ?? 0), 9);
  const [verified] = await replica.verify();
  assert.deepEqual(
    verified?.differences.map(({ key, kind }) => [key, kind]),
    lost.map((key) => [key, 'quarantined']),
  );
  // The source corrects one of them: the next update stores it and removes it from the quarantine.
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

test('INCIDENT development and production shared one token, and no photo arrived: requests that were refused with 429 are repeated', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(8, clock, withPhotos) }, { paths: true });
  let refused = 0;
  server.intercept = ({ path }) => {
    // Another user has used up the token: the first forty requests for photos are refused.
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

test('INCIDENT dates compared as strings moved a watermark backwards: a source clock that is set back moves no cursor', async (t) => {
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
  // As strings, "10" is less than "9"; an offset and a fraction do not change the moment either.
  list.push(listing(keyOf(9), { ModificationTimestamp: '2026-06-10T09:30:00.5+02:00' }));
  clock.set('2026-06-10T10:00:00Z');
  await replica.replicate();
  assert.equal(await cursor(), '2026-06-10T09:59:00Z');
  assert.equal(
    (await replica.record('Property', keyOf(9)))?.ModificationTimestamp,
    '2026-06-10T07:30:00.500Z',
  );
});

test('INCIDENT a purge that holds all ids in memory and cannot resume: a purge resumes where it was stopped', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(40, clock) }, { page: 5 });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  take(server.records.get('Property') ?? [], keyOf(1), keyOf(20), keyOf(40));
  clock.advance(DAY);
  const before = server.seen.length;
  let ended = 0;
  for (let run = 0; ended === 0; run++) {
    assert.ok(run < 20, 'the purge ends');
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
  assert.equal(tokens.filter((token) => token === null).length, 1, 'the first page was requested once');
  assert.deepEqual([...new Set(tokens)], [null, '5.0', '10.0', '15.0', '20.0', '25.0', '30.0', '35.0']);
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(38, 2).filter((key) => key !== keyOf(20)),
  );
});

test('a purge that was killed between two batches of deletes continues with the rest', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(1300, clock) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  server.records.set('Property', listings(1300, clock).slice(0, 1));
  clock.advance(DAY);
  // The process dies after the first batch has been committed.
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
  const deleted = replica.reported('deleted').flatMap(({ keys }) => keys);
  assert.deepEqual([deleted.length, new Set(deleted).size], [1299, 1299]);
});

test('a photo that comes twice in a listing is stored once, with the later values', async (t) => {
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
