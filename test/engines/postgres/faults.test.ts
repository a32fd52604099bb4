/** Requests and writes while the server is unavailable or too slow, or has no free connection. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { LOCK_CLASS } from '../../../src/engines/postgres/writing/lock.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { emptyDatabase, postgresEngine } from '../../support/postgres-engine.ts';
import { relayTo } from '../../support/postgres-relay.ts';
import { ownServer, placeOf, runOn, shown } from '../../support/postgres-server.ts';
import { nonZero } from '../../support/reports.ts';
import { startTestService } from '../../support/service.ts';
import { operations } from '../../support/world.ts';

/** A server of its own, which this file stops and whose connections it closes. */
const server = await ownServer();

const unavailable = {
  code: 'storeUnavailable' satisfies ErrorCode,
  status: 503,
  retryAfter: 5,
  message: 'The store cannot be reached at the moment.',
};

async function openWorld(t: TestContext, more = '') {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  const store = await openStore(`${address}${more}`);
  t.after(async () => {
    await store.close();
    await drop();
  });
  return { address, store, ...operations(store, testClock()) };
}

/** Another user of the database, who holds locks as long as the test needs them. */
async function holder(t: TestContext, address: string, ...statements: readonly string[]): Promise<Client> {
  const client = new Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  for (const statement of statements) await client.query(statement);
  return client;
}

const count = async (store: Store, request: ReturnType<typeof operations>['request'], milliseconds: number) =>
  store.count((await request('Property', "$filter=City eq 'Ely'")).query, { milliseconds });

test('a server that stops and starts again: 503 meanwhile, then everything as before', async (t) => {
  const world = await openWorld(t);
  await world.write('Property', listing('A'));
  const record = await world.parse('Property', listing('B'));
  const ways: readonly ('crash' | 'order')[] = ['order', 'crash'];
  for (const how of ways) {
    await server.stop(how);
    await assert.rejects(world.keys('Property'), unavailable);
    await assert.rejects(world.store.look('hash'), unavailable);
    await assert.rejects(world.store.horizon(), unavailable);
    await assert.rejects(world.store.write('Property', [record]), unavailable);
    await assert.rejects(openStore(world.address), {
      code: 'storeUnreachable' satisfies ErrorCode,
      status: 503,
      retryAfter: 5,
      message: `${shown(world.address)} cannot be reached: there is no such socket (ENOENT); ${placeOf(world.address)}.`,
    });
    await server.start();
    assert.deepEqual(await world.keys('Property'), ['A']);
  }
  assert.deepEqual(nonZero(await world.store.write('Property', [record])), { inserted: 1 });
  assert.deepEqual(await world.keys('Property'), ['A', 'B']);
});

test('a regular expression that is too complex for the server is the fault of the query', async (t) => {
  const { write, count: counted } = await openWorld(t);
  await write('Property', listing('A', { City: 'Ely' }));
  const pattern = '\\b'.repeat(50);
  await assert.rejects(counted('Property', `$filter=matchespattern(City,'${pattern}')`), {
    code: 'usage' satisfies ErrorCode,
    status: 400,
    message: 'The regular expressions of the query are too complex.',
  });
});

test('connections that the server closes are replaced, busy and idle ones', async (t) => {
  const world = await openWorld(t);
  await world.write('Property', listing('A'));
  await runOn(
    server.address('postgres'),
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plat'",
  );
  const outcomes = await Promise.allSettled([world.keys('Property'), world.keys('Property')]);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'storeUnavailable');
  }
  assert.deepEqual(await world.keys('Property'), ['A']);
  assert.deepEqual(nonZero(await world.write('Property', listing('B'))), { inserted: 1 });
});

test('a transaction whose connection is closed leaves nothing behind, and succeeds when it is repeated', async (t) => {
  const world = await openWorld(t);
  const client = await holder(t, world.address, 'BEGIN; LOCK TABLE plat.property_texts IN EXCLUSIVE MODE');
  const writing = world.write('Property', listing('A'), listing('B'));
  const refused = assert.rejects(writing, unavailable);
  const waiting = `SELECT pid FROM pg_stat_activity
    WHERE application_name = 'plat' AND wait_event_type = 'Lock' AND state = 'active'`;
  const observer = await holder(t, world.address);
  let [row] = (await observer.query(waiting)).rows;
  while (row === undefined) [row] = (await observer.query(waiting)).rows;
  await runOn(world.address, `SELECT pg_terminate_backend(${row.pid})`);
  await refused;
  await client.query('ROLLBACK');
  assert.deepEqual(await world.keys('Property'), []);
  assert.deepEqual(nonZero(await world.write('Property', listing('A'), listing('B'))), { inserted: 2 });
});

test('a request whose connection is closed while a page is read, or whose server dies: 503, and nothing of the page is sent', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  t.after(drop);
  const relay = await relayTo(t, address);
  const keys = Array.from({ length: 300 }, (_, index) => String(1000 + index));
  const PublicRemarks = 'A house with a view. '.repeat(190);
  const behindRelay: Engine = {
    ...postgresEngine(),
    open: async () => {
      const store = await openStore(relay.address);
      t.after(() => store.close());
      return {
        store,
        again: () => openStore(address),
        hold: () => assert.fail('nobody writes meanwhile'),
        copy: () => assert.fail('nothing is copied'),
        parts: () => assert.fail('nothing is copied'),
        damage: (...statements) => runOn(address, ...statements),
      };
    },
  };
  const service = await startTestService(t, {
    engine: behindRelay,
    fill: async ({ write }) => {
      await write('Property', ...keys.map((key) => listing(key, { PublicRemarks })));
    },
  });
  const token = await service.key('replication');
  const ask = (path: string, encoding: string) =>
    service.get('replication', path, { token, headers: { 'accept-encoding': encoding } });
  const restart = async (): Promise<void> => {
    // Servers of tests write their log some time after a commit.
    await runOn(server.address('postgres'), 'CHECKPOINT');
    await server.stop('crash');
    await server.start();
  };
  const cut = async (): Promise<void> => undefined;
  const PAGE = '/Reso/OData/Property?$orderby=City';
  const cases = [
    ['/v1/listings?_limit=300', 'identity', cut],
    ['/Reso/OData/Property', 'gzip', cut],
    [PAGE, 'gzip', cut],
    [PAGE, 'identity', restart],
  ] as const;
  for (const [path, encoding, work] of cases) {
    const broken = relay.breakAfter(500_000, work);
    const [refused] = await Promise.all([ask(path, encoding), broken]);
    assert.equal(refused.status, 503, path);
    assert.equal(refused.headers['retry-after'], '5');
    assert.ok(!refused.text.includes('house'), refused.text);
    assert.match(refused.text, /The store cannot be reached at the moment\./);
    const next = await ask(path, 'identity');
    assert.equal(next.status, 200);
    assert.equal(next.text.split(PublicRemarks).length - 1, keys.length);
  }
  // What needs no record, and a wrong request, only check that the key is still valid.
  const others = ['/Reso/OData/$metadata', '/Reso/OData/Property?$filter=wrong'];
  const statuses = async (): Promise<number[]> => {
    const answers = await Promise.all(others.map((path) => ask(path, 'identity')));
    return answers.map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [200, 400]);
  await server.stop('crash');
  assert.deepEqual(await statuses(), [503, 503]);
  await server.start();
});

test('the server stops a query at its time limit, and the connection stays usable', async (t) => {
  const world = await openWorld(t);
  await world.write('Property', listing('A', { City: 'Ely' }));
  const client = await holder(
    t,
    world.address,
    'BEGIN; LOCK TABLE plat.property_records, plat.property_search IN ACCESS EXCLUSIVE MODE',
  );
  await assert.rejects(count(world.store, world.request, 50), {
    code: 'queryTimedOut' satisfies ErrorCode,
    status: 503,
    message: 'The query took longer than 0.05 s and was stopped. Use a narrower filter or an order by key.',
  });
  await client.query('ROLLBACK');
  assert.equal(await count(world.store, world.request, 5000), 1);
});

test('searches that use all connections delay no page, and searches beyond the queue get a 503 with Retry-After', async (t) => {
  const world = await openWorld(t, '&connections=3');
  await world.write('Property', listing('A', { City: 'Ely' }));
  const { query } = await world.request('Property', "$filter=City eq 'Ely'");
  const client = await holder(
    t,
    world.address,
    'BEGIN; LOCK TABLE plat.property_records, plat.property_search IN ACCESS EXCLUSIVE MODE',
  );
  const searches = Array.from({ length: 600 }, () => world.store.count(query, { milliseconds: 30_000 }));
  const outcomes = Promise.allSettled(searches);
  // Members are in another table, and are read on connections of their own.
  assert.deepEqual(await world.keys('Member'), []);
  // A search may have got a connection meanwhile, which frees a place in the queue.
  const another = Promise.allSettled([world.store.count(query, { milliseconds: 30_000 })]);
  await assert.rejects(world.store.count(query, { milliseconds: 30_000 }), {
    code: 'overloaded' satisfies ErrorCode,
    status: 503,
    retryAfter: 5,
    message: 'The service is at its limit. Try again in 5 s.',
  });
  await client.query('ROLLBACK');
  await another;
  const refused = (await outcomes).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  for (const error of refused)
    assert.ok(error instanceof PlatError && error.code === 'overloaded', String(error));
  assert.equal(searches.length - refused.length >= 500, true);
  assert.equal(await world.store.count(query, { milliseconds: 30_000 }), 1);
});

test('while another process writes, only what is committed is settled', async (t) => {
  const world = await openWorld(t);
  const client = await holder(t, world.address, 'SET search_path = plat; BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1::integer, hashtext(current_schema()))', [LOCK_CLASS]);
  const { now, settled } = await world.store.horizon();
  assert.ok(settled < now);
  await client.query('ROLLBACK');
  const later = await world.store.horizon();
  assert.equal(later.settled, later.now);
});
