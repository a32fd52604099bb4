/** `plat replicate --watch` beside a second run, a service on the same store, probes and a signal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { place } from '../../cli/run.ts';
import { listing } from '../../support/builders.ts';
import { makeKey } from '../../support/service.ts';
import type { Json } from '../../support/world.ts';
import { from, lineOf, makeMarket, serve } from '../support/real-feed.ts';

const LISTINGS = 40;

async function get(url: string, token = ''): Promise<[number, string]> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return [response.status, await response.text()];
}

test('a watch: a second run is rejected, the copy is served meanwhile, probes and metrics work, and SIGTERM ends it cleanly', async (t) => {
  const at = place(t);
  const market = await makeMarket(t, at.path('market.db'), LISTINGS);
  const feed = await serve(at, 'market.db');
  const options = from(feed.addresses.replication ?? '', 'reso', market.token);
  const watching = at.start([
    'replicate',
    ...options,
    '--watch',
    '--purge-every',
    '1s',
    '--update-every',
    '1h',
    '--admin-port',
    '0',
  ]);
  const swept = lineOf(
    watching,
    ({ kind, step, state, resource }) => [kind, step, state, resource].join() === 'step,sweep,done,Property',
  );
  const downloaded = lineOf(
    watching,
    ({ kind, step, state, resource }) => [kind, step, state, resource].join() === 'step,update,done,Property',
  );
  const admin = await new Promise<string>((resolve) => {
    watching.child.stderr?.on('data', (part: string) => {
      const [, address] = /^admin +(http:\S+)\/$/m.exec(part) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  assert.deepEqual(await get(`${admin}/live`), [200, '{"live":true}']);
  const head = await fetch(`${admin}/live/?a=1`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '13']);
  const missing = await fetch(`${admin}/status`);
  const answer: Json = JSON.parse(await missing.text());
  assert.deepEqual([missing.status, Object(answer.error).code], [404, 'pathNotFound']);
  const posted = await fetch(`${admin}/live`, { method: 'POST' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);

  await downloaded;
  const second = await at.run(['replicate', ...options, '--once']);
  assert.equal(second.code, 1);
  assert.match(
    second.err,
    /\S+:\d+:[0-9a-f]{8} is replicating feed into this store; its lease ends in \d+ s unless it is renewed\./,
  );

  await swept;
  assert.deepEqual(await get(`${admin}/ready`), [200, '{"ready":true}']);
  const [status, metrics] = await get(`${admin}/metrics`);
  assert.equal(status, 200);
  const values = new Map(
    metrics.split('\n').map((line) => [line.replace(/ [^ ]+$/, ''), line.split(' ').at(-1)]),
  );
  assert.deepEqual(
    [
      'plat_replica_records{resource="Property"}',
      'plat_replica_rows_total{resource="Property",step="initial"}',
      'plat_replica_quarantined',
      'plat_replica_retries_total',
      'plat_replica_failures_total',
    ].map((name) => values.get(name)),
    [String(LISTINGS), String(LISTINGS), '0', '0', '0'],
  );
  const lag = Number(values.get('plat_replica_lag_seconds{resource="Property"}'));
  // Changes arrive as they are made, without waiting for a window.
  assert.ok(lag < 60, String(lag));

  const replica = await openSqliteStore({ path: at.path('replica.db') });
  const token = await makeKey(replica, 'replication');
  await replica.close();
  const served = await serve(at, 'replica.db');
  const root = `${served.addresses.replication}/v1/listings`;
  const [gone = ''] = await market.keys();
  assert.equal((await get(`${root}/${gone}`, token))[0], 200);
  const deleted = lineOf(
    watching,
    ({ kind, keys }) => kind === 'deleted' && JSON.stringify(keys) === `["${gone}"]`,
  );
  const fetched = lineOf(watching, ({ kind, rows }) => kind === 'changes' && rows === 1);
  await market.store.remove('Property', [gone]);
  await market.write('Property', listing('77777'));
  await Promise.all([deleted, fetched]);
  assert.equal((await get(`${root}/${gone}`, token))[0], 404);
  assert.equal((await get(`${root}/77777`, token))[0], 200);
  assert.deepEqual(JSON.parse((await get(`${served.addresses.admin}/ready`))[1]), { ready: true });

  watching.child.kill('SIGTERM');
  const { code, err } = await watching.ended;
  assert.deepEqual([code, /"kind":"end","result":"stopped"}\n$/.test(err)], [0, true], err.slice(-400));
  for (const text of [err, second.err]) assert.equal(text.includes(market.token), false, 'no token in logs');

  // The next run resumes a sweep that the signal interrupted.
  await at.done(['replicate', ...options, '--step', 'purge']);
  await at.done(['replicate', ...options, '--once']);
  const report = JSON.parse(await at.done(['status', '--store', 'replica.db', '--json']));
  const [source] = report.sources;
  assert.deepEqual(
    [report.owner, source.source, source.quarantined, source.ignored, source.holder, source.stale],
    ['replica', 'feed', 0, [], undefined, undefined],
  );
  assert.match(source.identity, /^reso 127\.0\.0\.1:\d+\/Reso\/OData\/$/);
  assert.deepEqual(
    source.collections.map((each: Json) => [each.collection, each.state, each.sweep, each.wanted]),
    [
      ['Property', 'current', 'idle', 0],
      ['Member', 'current', 'idle', 0],
      ['Office', 'current', 'idle', 0],
    ],
  );
  const [property] = source.collections;
  assert.deepEqual(
    [property.stored, property.swept.keys, typeof property.lag, Number.isNaN(Date.parse(property.cursor))],
    [LISTINGS, LISTINGS, 'number', false],
  );
  for (const name of ['lastUpdate', 'lastPurge', 'lastAccounts']) {
    assert.match(source[name], /^\d{4}-\d\d-\d\dT/, name);
  }
  const text = await at.done(['status', '--store', 'replica.db']);
  for (const part of [`source feed: ${source.identity}`, 'a plat service', 'pages by link or token']) {
    assert.ok(text.includes(part), part);
  }
});

test('--once, --step and PLAT_ONCE end a run although the configuration says to watch', async (t) => {
  const at = place(t);
  const market = await makeMarket(t, at.path('market.db'), 3);
  const feed = await serve(at, 'market.db');
  const options = from(feed.addresses.replication ?? '', 'reso', market.token);
  at.file('plat.config.json', '{"watch":true,"adminPort":0}');
  for (const [args, env] of [
    [['--once'], {}],
    [['--step', 'update'], {}],
    [[], { PLAT_ONCE: '1' }],
  ] as const) {
    const { code, err } = await at.run(['replicate', ...options, ...args], { env });
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /^admin /m);
  }
});
