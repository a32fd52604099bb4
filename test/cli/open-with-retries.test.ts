/** A watch whose store is unavailable at the start waits for it; an address that is not a store ends it. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { openPatiently } from '../../src/cli/open-with-retries.ts';
import { serveReplicaAdmin } from '../../src/cli/replica-admin.ts';
import { platError } from '../../src/errors/index.ts';
import { RequestFailure } from '../../src/replica/http/failure.ts';
import type { Store } from '../../src/store/store.ts';
import { odataServer } from '../replica/support/odata-server.ts';
import { from, lineOf } from '../replica/support/real-feed.ts';
import { testClock } from '../support/clock.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';
import { place } from './run.ts';

const AWAY = 'The store cannot be reached at the moment.';

function patience(signal = new AbortController().signal) {
  const waits: number[] = [];
  const sleep = async (): Promise<void> => undefined;
  const onFailure = (reason: string, wait: number): void => {
    assert.equal(reason, AWAY);
    waits.push(wait);
  };
  return { waits, clock: { now: () => 0, sleep }, random: () => 1, signal, onFailure };
}

test('opening an unavailable store is tried again, after longer and longer waits', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  const given = patience();
  let tries = 0;
  const open = async (): Promise<Store> => {
    if (++tries <= 7) throw platError('storeUnavailable', {});
    return store;
  };
  assert.equal(await openPatiently(open, given), store);
  assert.deepEqual(given.waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('a source that cannot be reached, or refuses the token, is waited for before its store is created', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  for (const [kind, longest] of [
    ['transient', 30_000],
    ['refused', 900_000],
  ] as const) {
    const given = patience();
    let tries = 0;
    const open = async (): Promise<Store> => {
      if (++tries <= 10) throw new RequestFailure(kind, AWAY, { retryAfter: tries === 1 ? 7000 : undefined });
      return store;
    };
    assert.equal(await openPatiently(open, given), store);
    assert.deepEqual([given.waits.length, given.waits.at(-1)], [10, longest]);
    if (kind === 'transient') assert.equal(given.waits[0], 7000, 'at least as long as the source asks for');
  }
});

test('a watch whose admin port is in use, or is not of this machine, ends with the reason', async () => {
  const first = await serveReplicaAdmin('source', { host: '127.0.0.1', port: 0 });
  const port = Number(new URL(first.address).port);
  await assert.rejects(serveReplicaAdmin('source', { host: '127.0.0.1', port }), {
    code: 'usage',
    message: `The admin port 127.0.0.1:${port} cannot be opened: Port ${port} is in use. Choose another, or 0 for any free one.`,
  });
  await assert.rejects(serveReplicaAdmin('source', { host: '203.0.113.7', port: 0 }), {
    code: 'usage',
    message: /: The host to listen on, 203\.0\.113\.7, is not an address of this machine\.$/,
  });
  await first.close();
});

test('a watch of a source that refuses its token creates no store, and its probe says why', async (t) => {
  const clock = testClock(new Date().toISOString());
  const server = await odataServer(t, clock, { Property: [] }, { token: 'other' });
  const at = place(t);
  const options = from(server.origin, 'reso', 'secret', 'r.db').with(1, server.root);
  const watching = at.start(['replicate', ...options, '--watch', '--admin-port', '0']);
  let output = '';
  watching.child.stderr?.on('data', (part: string) => {
    output += part;
  });
  const { reason } = await lineOf(watching, ({ kind }) => kind === 'failed');
  const admin = /^admin +(http:\S+)\/$/m.exec(output)?.[1];
  assert.equal(reason, '401: Who are you?');
  const ready = await fetch(`${admin}/ready`);
  assert.deepEqual([ready.status, await ready.json()], [503, { ready: false, problems: { feed: reason } }]);
  assert.deepEqual(readdirSync(at.path('.')), []);
  watching.child.kill('SIGTERM');
  assert.equal((await watching.ended).code, 0);
});

test('an address that is not a store ends the attempts at once, and so does the signal', async () => {
  const reason = 'it is another database';
  const wrong = openPatiently(async () => {
    throw platError('storeNotOurs', { store: 's', reason });
  }, patience());
  await assert.rejects(wrong, { code: 'storeNotOurs' });
  const stop = new AbortController();
  const stopped = openPatiently(async () => {
    stop.abort();
    throw platError('storeUnavailable', {});
  }, patience(stop.signal));
  assert.equal(await stopped, undefined);
});

test('plat replicate --watch on an unavailable server reports that, also by its probes, and exits with 0 after a signal', async (t) => {
  const at = place(t);
  const options = [
    '--from',
    'http://127.0.0.1:9/v1',
    '--interface',
    'native',
    '--token',
    'x',
    '--admin-port',
    '0',
  ];
  const { child, ended } = at.start([
    'replicate',
    ...options,
    '--watch',
    '--store',
    'postgres://127.0.0.1:9/none',
  ]);
  let output = '';
  const failed = Promise.withResolvers<void>();
  child.stderr?.on('data', (part: string) => {
    output += part;
    if (output.includes('"failed"')) failed.resolve();
  });
  await Promise.race([failed.promise, ended]);
  const admin = /^admin +(http:\S+)\/$/m.exec(output)?.[1];
  const ask = async (path: string) => {
    const response = await fetch(`${admin}${path}`);
    return [response.status, await response.json()];
  };
  const [live, ready] = [await ask('/live'), await ask('/ready')];
  child.kill('SIGHUP');
  const { code, err } = await ended;
  const { reason } = JSON.parse(/^\{.*"kind":"failed".*\}$/m.exec(err)?.[0] ?? '{}');
  assert.deepEqual(live, [200, { live: true }]);
  assert.deepEqual(ready, [503, { ready: false, problems: { store: reason } }]);
  assert.equal(code, 0, err);
  assert.match(err, /"kind":"failed","reason":"[^"]+","wait":\d+\}\n.*"kind":"end","result":"stopped"\}\n$/s);
});
