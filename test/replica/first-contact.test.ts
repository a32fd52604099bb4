/** The first request to a source: nothing listens there, or the store already has its records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardDictionary } from '../../src/dictionary/index.ts';
import { RequestFailure } from '../../src/replica/http/failure.ts';
import { InMemoryUsage, sharedAllowance } from '../../src/replica/http/rate-budget.ts';
import { networkTransport } from '../../src/replica/http/transport.ts';
import { contactSource } from '../../src/replica/run/session.ts';
import { testClock } from '../support/clock.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { change, keyOf, keysUpTo, listings, withPhotos } from './support/feed.ts';
import { json, type Seen } from './support/loopback.ts';
import { agent, failure, nativeServer } from './support/native-server.ts';
import { odataServer } from './support/odata-server.ts';
import { makeReplica } from './support/replica.ts';

const REFUSED = 'ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1';
const waits = (...list: readonly number[]) =>
  list.map((wait, at) => ({ reason: REFUSED, attempt: at + 1, wait }));

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: the first request to an address where nothing listens fails after seconds and says what to do`, async (t) => {
    const clock = testClock();
    const from = 'http://127.0.0.1:1/feed';
    const replica = await makeReplica(t, { from, interface: kind, clock, resources: ['Property'] });
    await assert.rejects(replica.replicate(), (error) => {
      assert.ok(error instanceof RequestFailure);
      assert.deepEqual(
        [error.kind, error.message],
        [
          'transient',
          `Nothing answers at http://127.0.0.1:1/feed/ (${REFUSED}); check --from, or wait for it with --watch`,
        ],
      );
      return true;
    });
    // Seven seconds at most; each wait is half random.
    assert.deepEqual(replica.reported('retry'), waits(500, 1000, 2000));
    assert.equal((await replica.status()).identity, undefined, 'the name is free');
  });
}

test('a source that was reached before, and one that responds that it is busy, are retried for the usual time', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  let isDown = false;
  const replica = await makeReplica(t, {
    from: server.root,
    interface: 'reso',
    clock,
    resources: ['Property'],
    between: (transport) => (request) =>
      transport(isDown ? { ...request, url: 'http://127.0.0.1:1/' } : request),
  });
  let busy = 6;
  server.intercept = () => (busy-- > 0 ? json({ error: { message: 'Busy' } }, { status: 503 }) : undefined);
  assert.equal(await replica.replicate(), 'done');
  assert.equal(replica.reported('retry').length, 6);
  isDown = true;
  replica.events.length = 0;
  await assert.rejects(replica.replicate(), {
    message: `Nothing answers at ${server.root} (${REFUSED})`,
  });
  assert.deepEqual(replica.reported('retry'), waits(500, 1000, 2000, 4000, 8000, 16_000, 30_000));
});

for (const engine of [sqliteEngine(), postgresEngine()]) {
  test(`${engine.name}: a feed that the store already has under another name is quarantined, and the first message says under which`, async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(30, clock, withPhotos) });
    const replica = await makeReplica(t, {
      from: server.root,
      interface: 'reso',
      clock,
      resources: ['Property'],
      engine,
    });
    await replica.replicate();
    const before = await replica.keys('Media');
    const identity = `reso ${new URL(server.root).host}/odata/`;
    const doubt = (name: string, force: string) => ({
      reason: `${replica.store.name} already has the records of ${name}, from the source feed. A key belongs to one source, so the records that both have go to the quarantine. If it is the same feed, stop this run: --source feed${force} continues that copy. For another feed, use a separate store.`,
    });
    const byName = server.root.replace('127.0.0.1', 'localhost');
    change(server.records.get('Property') ?? [], keyOf(3), { ListPrice: 7 }, clock);
    for (const [name, from, force] of [
      ['again', server.root, ''],
      ['local', byName, ` --force (it was replicated from ${identity})`],
    ] as const) {
      replica.events.length = 0;
      assert.equal(await replica.replicate({ source: name, from }), 'done');
      assert.deepEqual(replica.reported('doubt'), [doubt(name, force)]);
      const seen = replica.events.map(({ kind }) => kind);
      assert.ok(seen.indexOf('doubt') < seen.indexOf('quarantined'));
      assert.deepEqual(
        (await replica.store.checkpoints.quarantined(name)).map(({ resource, key, reason }) => [
          resource,
          key,
          reason,
        ]),
        keysUpTo(30).map((key) => ['Property', key, 'The key belongs to the source feed']),
      );
      // The next run says it no more.
      replica.events.length = 0;
      assert.equal(await replica.replicate({ source: name, from }), 'done');
      assert.deepEqual(replica.reported('doubt'), []);
    }
    assert.equal((await replica.store.contents('Property', { key: keyOf(3) }))[0]?.ListPrice, 3000);
    assert.deepEqual(await replica.keys('Media'), before);
    assert.deepEqual(await replica.store.checkpoints.quarantined('feed'), []);
    // The copy that has the records continues.
    assert.equal(await replica.replicate({ from: byName, force: true }), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(30));
    assert.equal((await replica.store.contents('Property', { key: keyOf(3) }))[0]?.ListPrice, 7);

    // A feed that also has other records is copied; those records are stored under its name.
    const more = await odataServer(t, clock, { Property: listings(31, clock) });
    replica.events.length = 0;
    await replica.replicate({ source: 'more', from: more.root });
    assert.deepEqual(replica.reported('doubt'), []);
    assert.deepEqual(
      await replica.store.checkpoints.storedKeys('more', 'Property', '', 10),
      keysUpTo(31).slice(-1),
    );
  });
}

/** Whether a request returns a whole record at a position, alone or among others. */
const returns = ({ path, query }: Seen, at: number, records: number): boolean => {
  if (path === `/odata/Property('${keyOf(at + 1)}')`) return true;
  if (path !== '/odata/Property' || query.has('$select')) return false;
  const from = Number(query.get('$skiptoken') ?? query.get('$skip') ?? 0);
  return from <= at && at < from + Number(query.get('$top') ?? records);
};

for (const [what, given] of [
  ['with its listings', { expands: ['Media'] }],
  ['listing by listing', { paths: true }],
] as const) {
  test(`a first record at which the source fails does not keep the others from being copied, with media ${what}`, async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(6, clock, withPhotos) }, given);
    const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
    const replica = await makeReplica(t, from);
    const failure = { status: 500, body: 'no' };
    server.intercept = (seen) => (returns(seen, 0, 6) ? failure : undefined);
    assert.equal(await replica.replicate(), 'done');
    const others = keysUpTo(6).slice(1);
    assert.deepEqual(await replica.keys('Property'), others);
    assert.deepEqual(await replica.keys('Media'), ['1002-0', '1002-1', '1004-0', '1005-0', '1005-1']);
    const entry = ['Property', keyOf(1), 'The source cannot return the record: 500: no'];
    assert.deepEqual(await replica.quarantine(), [entry]);
  });
}

test('a record at which a feed fails does not hide that the store has the feed already', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(6, clock) });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  await replica.replicate();
  server.intercept = (seen) => (returns(seen, 0, 6) ? { status: 500, body: 'no' } : undefined);
  assert.equal(await replica.replicate({ source: 'again' }), 'done');
  assert.equal(replica.reported('doubt').length, 1);
});

test('a source that fails at every record, or at the keys as well, is at fault at the first contact', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(6, clock) });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  for (const failsAtKeys of [false, true]) {
    const replica = await makeReplica(t, from);
    server.intercept = ({ path, query }) =>
      path.startsWith('/odata/Property') && (failsAtKeys || !query.has('$select'))
        ? { status: 500, body: 'no' }
        : undefined;
    await assert.rejects(replica.replicate(), { name: 'RequestFailure', status: 500, message: '500: no' });
    assert.deepEqual(await replica.quarantine(), []);
  }
});

test('listings are copied if the source fails at the media of all of them, and the run fails for it', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock, withPhotos) }, { paths: true });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  server.intercept = ({ path }) => (path.endsWith('/Media') ? { status: 500, body: 'no' } : undefined);
  await assert.rejects(replica.replicate(), { name: 'RequestFailure', status: 500, message: '500: no' });
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
  server.intercept = () => undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Media'), ['1001-0', '1002-0', '1002-1']);
});

test('a source that fails when it has to count is copied without its counts', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(6, clock) }, { counts: true });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  server.intercept = ({ query }) => (query.has('$count') ? { status: 504, body: 'too slow' } : undefined);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(6));
  assert.ok((await replica.status()).abilities.includes('does not return the number of its records'));
});

test('a source that fails at several expansions together is asked for each of them', async (t) => {
  const clock = testClock();
  const given = { expands: ['Media', 'Room'] };
  const server = await odataServer(t, clock, { Property: listings(6, clock, withPhotos) }, given);
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  server.intercept = ({ query }) =>
    (query.get('$expand') ?? '').includes('Unit,') ? { status: 500, body: 'What is a Unit?' } : undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.ok(
    (await replica.status()).abilities.includes('sub-resources arrive with the listings (Media, Room)'),
  );
});

test('a source that rejects expansions with 200 and an error is asked for its media listing by listing', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock, withPhotos) }, { paths: true });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  server.intercept = ({ query }) =>
    query.has('$expand') ? json({ error: { message: 'No $expand' } }) : undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Media'), ['1001-0', '1002-0', '1002-1']);
});

test('a source that ignores expansions is asked for its media listing by listing', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock, withPhotos) }, { paths: true });
  const from = { from: server.root, interface: 'reso', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  const list = server.records.get('Property') ?? [];
  server.intercept = ({ path, query }) =>
    path === '/odata/Property' && query.has('$expand')
      ? json({ value: list.map(({ Media: _, ...listing }) => listing).slice(0, Number(query.get('$top'))) })
      : undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Media'), ['1001-0', '1002-0', '1002-1']);
});

test('a source without metadata, agents and offices is copied, and the status says what it lacks', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
  assert.ok((await replica.status()).abilities.includes('has no Member, Office'));
});

test('a native source without accounts is copied unless they are named, and offices alone are accounts', async (t) => {
  const clock = testClock();
  const office = { ...agent('O1'), UserType: 'Office' };
  const server = await nativeServer(t, clock, listings(3, clock), [office]);
  const from = { from: server.root, interface: 'native', clock } as const;
  server.intercept = ({ path }) => (path === '/v1/accounts' ? failure(404, 404, 'No such path') : undefined);
  const replica = await makeReplica(t, from);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
  assert.ok((await replica.status()).abilities.includes('has no Member, Office'));
  const named = await makeReplica(t, { ...from, resources: ['Property', 'Office'] });
  await assert.rejects(named.replicate(), { status: 404 });
  server.intercept = () => undefined;
  assert.equal(await named.replicate(), 'done');
  assert.deepEqual(await named.keys('Office'), ['O1']);
});

test('attempts to reach a source before there is a store count in one budget', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: [] }, { token: 'other' });
  const transport = networkTransport();
  t.after(() => transport.close());
  const use = new InMemoryUsage();
  const limits = { requestsPerHour: 3 };
  const options = {
    from: server.root,
    interface: 'reso',
    token: 'secret',
    source: 'feed',
    limits,
    watch: true,
    environment: { clock, random: () => 0.5, transport },
  } as const;
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(contactSource(options, standardDictionary(), use), { status: 401 });
  }
  assert.ok((await sharedAllowance(use, 'secret', limits).take(clock.now())) > 0);
});
