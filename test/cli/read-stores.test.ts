/** Two processes that serve a store and read from its standby while that lags and catches up. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openStore } from '../../src/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { listing } from '../support/builders.ts';
import { type PostgresServer, runOn, startServer } from '../support/postgres-server.ts';
import { makeKey } from '../support/service.ts';
import { type Json, operations } from '../support/world.ts';
import { place, type Running } from './run.ts';
import { ANY_PORT, addressesOf, get, keysOf, rowsOf, walk } from './serving.ts';

const LISTINGS = 60;
const at = place({ after });
let store: Store;
let standby: PostgresServer;
let running: readonly Running[] = [];
let services: readonly Record<string, string>[] = [];

async function writing(...records: readonly Json[]): Promise<void> {
  await operations(store, { text: () => new Date().toISOString() }).write('Property', ...records);
}

const keyOf = (number: number): string => `L${String(number).padStart(3, '0')}`;
const round = (number: number): Json[] =>
  Array.from({ length: LISTINGS }, (_, index) => listing(keyOf(index), { ListPrice: number }));

before(async () => {
  const primary = await startServer();
  const flushed = 'ALTER DATABASE market SET synchronous_commit = on';
  await runOn(primary.address('postgres'), 'CREATE DATABASE market', flushed);
  store = await openStore(primary.address('market'), { create: 'authority' });
  await writing(...round(0));
  standby = await primary.standby();
  const config = at.file(
    'serve.json',
    JSON.stringify({ readStores: [standby.address('market')], readLagSeconds: 0.5 }),
  );
  const args = ['serve', '--store', primary.address('market'), '--config', config, ...ANY_PORT];
  running = [1, 2].map(() => at.start(args));
  services = await Promise.all(running.map(addressesOf));
});

after(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  for (const { ended } of running) await ended;
  await store.close();
});

const feeds = (): string[] => services.map(({ replication = '' }) => replication);

/** What each process reports of its read stores. */
async function gauges(name: string): Promise<number[]> {
  const texts = await Promise.all(
    services.map(async ({ admin = '' }) => (await fetch(`${admin}/metrics`)).text()),
  );
  return texts.map((text) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]));
}

const root = '/Reso/OData/Property';
const replay = (what: 'pause' | 'resume') =>
  runOn(standby.address('market'), `SELECT pg_wal_replay_${what}()`);

test('no page of a walk is older than the one before, and no row is missing', async () => {
  const token = await makeKey(store, 'replication');
  const prices: unknown[] = [];
  // Each page is requested after a change that it must include, while the standby is paused or running.
  const meanwhile = async (page: number): Promise<void> => {
    if (page === 3) await replay('pause');
    if (page === 9) await replay('resume');
    await writing(...round(page + 1));
  };
  const path = `${root}?$top=4&$select=ListingKey,ListPrice`;
  const { rows } = await walk(path, token, feeds(), meanwhile);
  for (const row of rows) prices.push(JSON.parse(JSON.stringify(row)).ListPrice);
  assert.deepEqual(
    keysOf(rows),
    Array.from({ length: LISTINGS }, (_, index) => keyOf(index)),
  );
  assert.deepEqual(
    prices,
    Array.from({ length: LISTINGS }, (_, index) => Math.floor(index / 4)),
  );
  for (const reads of await gauges('plat_read_store_reads')) assert.ok(reads >= 2, `${reads} reads`);
});

test('a settled window is complete, and a walk of its list as well, while the standby is paused', async () => {
  const token = await makeKey(store, 'replication');
  await replay('pause');
  await writing(...round(77));
  await writing(listing('M', { ListPrice: 77 }));
  const to = new Date((await store.horizon()).now + 1).toISOString();
  const path = `${root}?$top=7&$select=ListingKey&$filter=ListPrice eq 77 and ModificationTimestamp lt ${to}`;
  const meanwhile = async (page: number): Promise<void> => {
    if (page === 2) await replay('resume');
  };
  const { rows, states } = await walk(path, token, feeds(), meanwhile);
  assert.deepEqual(keysOf(rows), [...Array.from({ length: LISTINGS }, (_, index) => keyOf(index)), 'M']);
  assert.deepEqual(states, ['fresh', ...Array(8).fill('cached')]);
});

test('an unavailable standby is not necessary, and is used again when it is back', async () => {
  const token = await makeKey(store, 'replication');
  await standby.stop('crash');
  for (const feed of feeds()) {
    const { status, json } = await get(`${feed}${root}?$count=true&$top=1`, token);
    assert.deepEqual([status, json['@odata.count']], [200, LISTINGS + 1]);
  }
  assert.deepEqual(await gauges('plat_read_stores_used'), [0, 0]);
  await standby.start();
  const before = await gauges('plat_read_store_reads');
  const deadline = Date.now() + 20_000;
  for (let asked = 0; ; asked++) {
    // A request that is repeated would be answered from a kept response, without a read.
    const filter = `$filter=ListingKey ne 'no ${asked}'`;
    for (const feed of feeds())
      assert.equal(rowsOf(await get(`${feed}${root}?$top=1&${filter}`, token)).length, 1);
    const now = await gauges('plat_read_store_reads');
    if (now.every((reads, index) => reads > (before[index] ?? 0))) break;
    assert.ok(Date.now() < deadline, 'both processes use it again');
  }
  assert.deepEqual(await gauges('plat_read_stores_used'), [1, 1]);
});
