/** The admin port (contract, Surfaces): probes and metrics without a token, all else with an admin key. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { platError } from '../../../src/errors/index.ts';
import { inTime, type Problems, unresponsive } from '../../../src/service/admin/probes.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { LIST_OVERHEAD } from '../../../src/service/paging/filter-index.ts';
import { startService } from '../../../src/service/service.ts';
import { listing, member, office } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { objectIn, resoFault } from '../http/envelopes.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Office', office('O1'));
      await write('Member', member('A1'));
      await write(
        'Property',
        listing('1', { ListAgentKey: 'A1', ListOfficeKey: 'O1' }),
        listing('2', { ListAgentKey: 'A9' }),
        listing('3', { ListAgentKey: 'A9', CoListAgentKey: 'A8' }),
      );
      await write('Property', listing('4'));
    },
  },
);
const { store } = service;
const token = await service.key('admin');
const get = (path: string, asked: string | undefined = undefined): Promise<Answer> =>
  service.get('admin', path, { token: asked });

test('/live and /ready answer 200 without a token', async () => {
  assert.deepEqual([(await get('/live')).status, (await get('/live')).json], [200, { live: true }]);
  assert.deepEqual([(await get('/ready')).status, (await get('/ready')).json], [200, { ready: true }]);
});

test('/ready answers 503 with the failed checks until they pass again', async () => {
  let problem: string | undefined = 'the replica is 3 h behind';
  const freshness = { name: 'freshness', check: async () => problem };
  const { clock } = service;
  const log = pino({ level: 'silent' });
  let broken: Error | undefined;
  const failing = new Proxy(store, {
    get(target, name) {
      if (name === 'model' && broken !== undefined) return () => Promise.reject(broken);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const ports = { api: 0, replication: 0, floorplans: 0, admin: 0 };
  const other = await startService(
    { ...SERVICE_DEFAULTS, store: failing, clock, log },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports },
    [freshness],
  );
  const ready = async (): Promise<unknown[]> => {
    const answer = await get(`${other.addresses.admin}/ready`);
    return [answer.status, answer.json];
  };
  assert.deepEqual(await ready(), [503, { ready: false, problems: { freshness: problem } }]);
  problem = undefined;
  assert.deepEqual(await ready(), [200, { ready: true }]);
  const storeProblem = async (error: Error): Promise<unknown> => {
    broken = error;
    return ready();
  };
  const because = (reason: string) => [503, { ready: false, problems: { store: reason } }];
  assert.deepEqual(await storeProblem(new Error('disk gone')), because('the store cannot be used'));
  assert.deepEqual(
    await storeProblem(platError('storeFull', { store: '/var/market.db' })),
    because('there is no room left on the disk of the store'),
  );
  broken = undefined;
  freshness.check = () => Promise.reject(platError('storeUnavailable', {}));
  assert.deepEqual(await ready(), because('the store cannot be used'));
  assert.match((await get(`${other.addresses.admin}/metrics`)).text, /^plat_ready 0$/m);
  assert.equal((await get(`${other.addresses.admin}/live`)).status, 200);
  await other.close();
});

test('a probe does not wait for a store that does not respond, and the next ones begin no further check', async () => {
  const checks: PromiseWithResolvers<Problems>[] = [];
  const begin = (): Promise<Problems> => {
    const check = Promise.withResolvers<Problems>();
    checks.push(check);
    return check.promise;
  };
  const problems = inTime(begin, () => unresponsive(undefined), 1);
  const late = { store: 'the store does not respond' };
  assert.deepEqual([await problems(), await problems(), checks.length], [late, late, 1]);
  checks[0]?.resolve({ clock: 'wrong' });
  await checks[0]?.promise;
  const next = problems();
  checks[1]?.resolve({});
  assert.deepEqual([await next, checks.length], [{}, 2]);
  const failing = problems();
  checks[2]?.reject(new Error('lost'));
  await assert.rejects(failing, { message: 'lost' });
});

test('every other path needs an admin key, even one that does not exist', async () => {
  for (const path of ['/status', '/keys', '/', '/none', '/live/x', '/metrics/x']) {
    assert.deepEqual(resoFault(await get(path)).slice(0, 2), [401, 'tokenMissing'], path);
    const other = await get(path, await service.key('replication'));
    assert.deepEqual(resoFault(other).slice(0, 2), [403, 'keyNotForSurface'], path);
  }
  for (const path of ['/', '/none', '/live/x']) {
    assert.deepEqual(resoFault(await get(path, token)), [
      404,
      'pathNotFound',
      `There is nothing at ${path}.`,
    ]);
  }
});

test('/status reports the content of the store, as "plat status" does', async () => {
  const { json } = await get('/status', token);
  assert.deepEqual(json, JSON.parse(JSON.stringify(await store.status())));
  assert.ok(Array.isArray(json.resources));
  const property = json.resources.map(objectIn).find(({ resource }) => resource === 'Property');
  assert.deepEqual(property, {
    resource: 'Property',
    rows: 4,
    deleted: 0,
    orphans: 0,
    lastModification: '2026-06-01T12:00:00.5001Z',
  });
  assert.deepEqual(json.danglingLinks, [
    { link: 'CoListAgentKey', keys: 1, listings: 1 },
    { link: 'ListAgentKey', keys: 1, listings: 2 },
  ]);
});

test('/keys reports the rights and the use of each key, but neither token nor hash', async () => {
  const { json, text } = await get('/keys', token);
  const keys: unknown = json.keys;
  assert.ok(Array.isArray(keys));
  const names = Object.keys(objectIn(keys[0])).toSorted();
  assert.deepEqual(names, [
    'createdAt',
    'expiresAt',
    'id',
    'kind',
    'lastDay',
    'name',
    'revokedAt',
    'role',
    'systems',
    'use',
  ]);
  assert.doesNotMatch(text, /plat_|[\da-f]{64}/);
});

test('/figures returns the metrics of /metrics as JSON', async () => {
  assert.equal((await get('/figures')).status, 401);
  const { figures } = (await get('/figures', token)).json;
  assert.ok(Array.isArray(figures));
  const named = (name: string) => figures.map(objectIn).find((each) => each.name === name);
  assert.deepEqual(named('plat_filter_indexes'), {
    name: 'plat_filter_indexes',
    help: 'Filters in the filter-index cache',
    type: 'gauge',
    values: [{ name: 'plat_filter_indexes', labels: {}, value: 0 }],
  });
  const seconds = named('plat_request_seconds')?.values;
  assert.ok(Array.isArray(seconds));
  const parts = seconds.map((each) => objectIn(each).name);
  assert.deepEqual(
    [...new Set(parts)],
    ['plat_request_seconds_bucket', 'plat_request_seconds_sum', 'plat_request_seconds_count'],
  );
});

test('docs/deploy.md lists every metric', async () => {
  const page = readFileSync(new URL('../../../docs/deploy.md', import.meta.url), 'utf8');
  const { text } = await get('/metrics');
  const served = [...text.matchAll(/^# HELP (plat_\w+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${help} |`,
  );
  assert.ok(served.length > 20);
  const listed = new Set(page.split('\n'));
  assert.deepEqual(
    served.filter((row) => !listed.has(row)),
    [],
  );
});

/** The samples of the metrics, by name and labels. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const { text, headers, status } = await get('/metrics');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

test('each of several services in a process reports the process metrics once, and only its own requests', async (t) => {
  const [asked, idle] = [await startTestService(t), await startTestService(t)];
  assert.equal((await asked.get('api', '/v1/listings')).status, 401);
  const texts = [(await asked.get('admin', '/metrics')).text, (await idle.get('admin', '/metrics')).text];
  for (const text of texts) {
    for (const name of [
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_gc_duration_seconds',
    ])
      assert.equal(text.split(`# TYPE ${name} `).length, 2, name);
  }
  const ownRequests = texts.map(
    (text) => text.match(/^plat_requests_total\{surface="api",status="401"\} \d+$/m)?.[0],
  );
  assert.deepEqual(ownRequests, ['plat_requests_total{surface="api",status="401"} 1', undefined]);
});

test('/metrics counts requests, rows and bytes by surface, and the time of each step', async () => {
  const key = await service.key('replication');
  const before = await samples();
  const page = await service.get('replication', '/v1/listings?_limit=3', { token: key });
  await service.get('replication', '/v1/none', { token: key });
  await service.get('replication', "/Reso/OData/Property('1')", { token: key });
  const filtered = "/v1/listings?_filter=StandardStatus+Eq+'Active'";
  const other = await service.get('replication', filtered, { token: key });
  const now = await samples();
  const grown = (name: string): number => (now.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.equal(grown('plat_requests_total{surface="replication",status="200"}'), 3);
  assert.equal(grown('plat_requests_total{surface="replication",status="404"}'), 1);
  assert.equal(grown('plat_rows_total{surface="replication"}'), 3 + 1 + 4);
  assert.ok(grown('plat_bytes_total{surface="replication"}') > page.bytes.length + other.bytes.length);
  assert.equal(grown('plat_request_seconds_count{surface="replication"}'), 4);
  for (const step of ['auth', 'parse'])
    assert.equal(grown(`plat_step_seconds_count{step="${step}"}`), 4, step);
  assert.equal(grown('plat_filter_indexes'), 1);
  assert.equal(grown('plat_filter_index_bytes'), 16 + LIST_OVERHEAD);
  assert.equal(now.get('plat_requests_running'), 1);
  assert.ok((now.get('process_resident_memory_bytes') ?? 0) > 1e6);
});

test('/metrics reports the bytes and entries of each cache', async () => {
  const key = await service.key('replication');
  await service.get('replication', '/Reso/OData/$metadata', { token: key });
  await service.get('replication', "/Reso/OData/Property?$filter=matchespattern(ListingKey,'^A')", {
    token: key,
  });
  const { text } = await get('/metrics');
  const bytesByCache = Object.fromEntries(
    [...text.matchAll(/^plat_cache_bytes\{cache="([^"]+)"\} (\d+)$/gm)].map(([, name = '', bytes]) => [
      name,
      Number(bytes),
    ]),
  );
  for (const name of [
    'filter indexes',
    'metadata documents',
    'prepared statements',
    'composed statements',
    'regular expressions',
  ]) {
    assert.ok((bytesByCache[name] ?? 0) > 1000, `${name}: ${bytesByCache[name]}`);
  }
  assert.match(text, /^plat_cache_entries\{cache="filter indexes"\} [1-9]\d*$/m);
});
